// The context that every view of a signed-in user needs.

import type { QueryClient } from '@tanstack/preact-query';
import { PlantStoreError } from 'plant-store/client';
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Listener, Live } from './live.ts';
import type { Session } from './session.ts';

export interface Workspace extends Session {
  live: Live;
  /** Keeps the responses of this session. */
  queries: QueryClient;
  /** Ends this session. Does nothing if it has already ended. */
  endSession(why: string): void;
  /** Functions that return messages about unsaved work. The sign-in page shows them when the session ends. */
  unfinished: Set<() => string>;
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('useWorkspace requires a session');
  return workspace;
}

/** Registers a message about unsaved work, in case the session ends. An empty string means no unsaved work. */
export function useUnfinished(tell: () => string): void {
  const { unfinished } = useWorkspace();
  const latest = useRef(tell);
  latest.current = tell;
  useEffect(() => {
    const own = () => latest.current();
    unfinished.add(own);
    return () => void unfinished.delete(own);
  }, [unfinished]);
}

/** True if the session has ended, or if this error ends it (invalid token). The caller then shows no message. */
export function endsSession(error: unknown, { endSession, ended }: Pick<Workspace, 'endSession' | 'ended'>): boolean {
  if (ended.aborted) return true;
  if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return false;
  endSession(`You were signed out: ${error.message}`);
  return true;
}

/** Calls the listener with each change of the store, or without one if the view must reload. */
export function useLive(listener: Listener): void {
  const { live } = useWorkspace();
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => live.listen((change) => latest.current(change)), [live]);
}

/** True while the server is out of reach. Writing is disabled then. */
export function useIsOffline(): boolean {
  const { reach } = useWorkspace();
  const [isLost, setLost] = useState(reach.isLost);
  useEffect(() => reach.listen(() => setLost(reach.isLost())), [reach]);
  return isLost;
}
