// Who is signed in: a token that lives as long as the tab, and the client that sends it.

import { createClient, type DescribedToken, type PlantStoreClient, type Scope } from 'plant-store/client';

const KEY = 'plant-store-token';

export interface Session {
  client: PlantStoreClient;
  self: DescribedToken;
  can(scope: Scope): boolean;
  reach: Reach;
  /** Aborts when it is over: from then on nothing is sent with its token. */
  ended: AbortSignal;
  end(): void;
}

/** If the server can be reached, as far as is known. */
export interface Reach {
  isLost(): boolean;
  /** Gives what ends it. */
  listen(listener: () => void): () => void;
}

export function savedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Throws `bad_token` where it is not one, and keeps it only where it is. */
export async function signIn(token: string, signal?: AbortSignal): Promise<Session> {
  const ending = new AbortController();
  const { fetch, reach } = watchReach(ending.signal);
  const client = createClient({ url: new URL('.', location.href), token, retries: 2, fetch });
  const self = await client.tokens.self();
  signal?.throwIfAborted();
  sessionStorage.setItem(KEY, token);
  return {
    client,
    self,
    can: (scope) => self.scopes.includes(scope),
    reach,
    ended: ending.signal,
    end() {
      ending.abort();
      sessionStorage.removeItem(KEY);
    },
  };
}

/** Of a token that was not taken. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** The client tries again by itself; somebody who looks on should know. */
function watchReach(ended: AbortSignal): { fetch: typeof fetch; reach: Reach } {
  const listeners = new Set<() => void>();
  let isLost = false;

  function note(lost: boolean): void {
    if (lost === isLost) return;
    isLost = lost;
    for (const listener of listeners) listener();
  }

  return {
    async fetch(address, options) {
      const signal = AbortSignal.any([ended, ...(options?.signal ? [options.signal] : [])]);
      try {
        const response = await fetch(address, { ...options, signal });
        note(false);
        return response;
      } catch (error) {
        if (!signal.aborted) note(true);
        throw error;
      }
    },
    reach: {
      isLost: () => isLost,
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
}
