// Notifies views of changes in real time. The tab has one stream, open only while the tab is visible, because a browser
// allows few connections per host. Missed changes are not replayed: the views reload.

import { type Change, PlantStoreError } from 'plant-store/client';
import type { Session } from './session.ts';

/** Called with a change, or without one if the view must reload everything. */
export type Listener = (change?: Change) => void;

export interface Live {
  /** Returns a function that removes the listener. */
  listen(listener: Listener): () => void;
  stop(): void;
}

const RETRY_MS = 5000;

export function createLive({ client, reach }: Session, onSignedOut: (error: Error) => void): Live {
  const listeners = new Set<Listener>();
  let following: AbortController | undefined;
  document.addEventListener('visibilitychange', followWhileVisible);
  const stopReach = reach.listen(() => reach.isLost() || notify());
  followWhileVisible();

  return {
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop() {
      document.removeEventListener('visibilitychange', followWhileVisible);
      stopReach();
      following?.abort();
    },
  };

  function followWhileVisible(): void {
    following?.abort();
    if (document.hidden) return;
    following = new AbortController();
    void follow(following.signal);
  }

  async function follow(signal: AbortSignal): Promise<void> {
    try {
      const lastSeq = await client.lastSeq({ signal });
      notify();
      for await (const change of client.follow({ after: lastSeq, signal })) notify(change);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PlantStoreError && error.code === 'bad_token') return onSignedOut(error);
      setTimeout(() => signal.aborted || follow(signal), RETRY_MS);
    }
  }

  function notify(change?: Change): void {
    for (const listener of listeners) listener(change);
  }
}

/** Replaces the stream for a token without the scope `plants:read`. */
export const NO_LIVE: Live = { listen: () => () => {}, stop() {} };
