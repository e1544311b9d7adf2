// What every view of somebody who is signed in needs.

import { PlantStoreError } from 'plant-store/client';
import { createContext } from 'preact';
import { useContext, useEffect, useRef } from 'preact/hooks';
import type { Live } from './live.ts';
import type { Session } from './session.ts';

export interface Workspace extends Session {
  live: Live;
  /** Does nothing where another one has begun since. */
  endSession(why: string): void;
  /** What would be lost with the session is told to whoever has to sign in again. */
  unfinished: Set<() => string>;
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('useWorkspace requires a session');
  return workspace;
}

/** Tells, if the session ends meanwhile, what was not stored. Nothing where there is nothing to tell. */
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

/** True when it ended the session: the token is no longer good, so nothing else has to be said. */
export function endsSession(error: unknown, { endSession, ended }: Workspace): boolean {
  if (ended.aborted) return true;
  if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return false;
  endSession(`You were signed out: ${error.message}`);
  return true;
}
