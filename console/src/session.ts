// Who is signed in: a token that lives as long as the tab, and the client that sends it.

import { createClient, type DescribedToken, type PlantStoreClient, type Scope } from 'plant-store/client';

const KEY = 'plant-store-token';

export interface Session {
  client: PlantStoreClient;
  self: DescribedToken;
  can(scope: Scope): boolean;
}

export function savedToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

/** Throws `bad_token` where it is not one, and keeps it only where it is. */
export async function signIn(token: string): Promise<Session> {
  const client = createClient({ url: new URL('.', location.href), token, retries: 2 });
  const self = await client.tokens.self();
  sessionStorage.setItem(KEY, token);
  return { client, self, can: (scope) => self.scopes.includes(scope) };
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
}
