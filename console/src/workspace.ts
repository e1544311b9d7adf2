// What every view of somebody who is signed in needs.

import { PlantStoreError } from 'plant-store/client';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Live } from './live.ts';
import type { Session } from './session.ts';

export interface Workspace extends Session {
  live: Live;
  /** Does nothing where another one has begun since. */
  endSession(why: string): void;
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('There is no workspace without a session');
  return workspace;
}

/** True when it ended the session: the token is no longer good, so nothing else has to be said. */
export function endsSession(error: unknown, { endSession, ended }: Workspace): boolean {
  if (ended.aborted) return true;
  if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return false;
  endSession(`You were signed out: ${error.message}`);
  return true;
}
