// The session: a token that is kept until the tab closes, and the client that sends it.

import { createClient, type DescribedToken, type PlantStoreClient, type Scope } from 'plant-store/client';

const KEY = 'plant-store-token';

export interface Session {
  client: PlantStoreClient;
  self: DescribedToken;
  can(scope: Scope): boolean;
  reach: Reach;
  /** Aborts when the session ends. Nothing is sent with its token after that. */
  ended: AbortSignal;
  end(): void;
}

/** Reports whether the last request reached the server. */
export interface Reach {
  isLost(): boolean;
  /** Returns a function that removes the listener. */
  listen(listener: () => void): () => void;
}

export function savedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Saves the token if the server accepts it. Throws `bad_token` otherwise. */
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

/** Removes the saved token after the server rejected it. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Reports lost connections to the user. The client itself retries without a message. */
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
