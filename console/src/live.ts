// The changes of everybody, as they happen: one stream for the tab, open only while somebody looks at it, since a
// browser has few connections for a host. What happened meanwhile is not told: views load anew.

import { type Change, PlantStoreError } from 'plant-store/client';
import type { Session } from './session.ts';

/** Without a change: anything may have changed. */
export type Listener = (change?: Change) => void;

export interface Live {
  /** Gives what ends it. */
  listen(listener: Listener): () => void;
  stop(): void;
}

const AGAIN_MS = 5000;

export function createLive({ client, reach }: Session, onSignedOut: (error: Error) => void): Live {
  const listeners = new Set<Listener>();
  let following: AbortController | undefined;
  document.addEventListener('visibilitychange', followWhileSeen);
  const stopReach = reach.listen(() => reach.isLost() || tell());
  followWhileSeen();

  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      document.removeEventListener('visibilitychange', followWhileSeen);
      stopReach();
      following?.abort();
    },
  };

  function followWhileSeen(): void {
    following?.abort();
    if (document.hidden) return;
    following = new AbortController();
    void follow(following.signal);
  }

  async function follow(signal: AbortSignal): Promise<void> {
    try {
      const { lastChange } = await client.summary({ signal });
      tell();
      for await (const change of client.follow({ after: lastChange, signal })) tell(change);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PlantStoreError && error.code === 'bad_token') return onSignedOut(error);
      setTimeout(() => signal.aborted || follow(signal), AGAIN_MS);
    }
  }

  function tell(change?: Change): void {
    for (const listener of listeners) listener(change);
  }
}

/** For a token that may not read. */
export const NO_LIVE: Live = { listen: () => () => {}, stop() {} };
