// The context that every view of a signed-in user needs.

import { PlantStoreError } from 'plant-store/client';
import { createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { Live } from './live.ts';
import type { Session } from './session.ts';

export interface Workspace extends Session {
  live: Live;
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
export function endsSession(error: unknown, { endSession, ended }: Workspace): boolean {
  if (ended.aborted) return true;
  if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return false;
  endSession(`You were signed out: ${error.message}`);
  return true;
}
