// Defines how the program is started, and adds tokens beside it. It needs no test runner: benchmarks use it as well.

import { join } from 'node:path';
import { readDatabase } from '../src/config/config.ts';
import type { Store } from '../src/domain/store.ts';
import { issueToken, type NewToken, type Token } from '../src/domain/token.ts';
import { openStore } from '../src/service/open-store.ts';

export const LAUNCHER = join(import.meta.dirname, '../bin/plant-store.js');

/** Opens the store as a command does, beside a server that may be running. */
export async function besideServer<T>(databaseUrl: string, work: (store: Store) => Promise<T>): Promise<T> {
  const database = readDatabase(databaseUrl, {});
  const store = await openStore(database, { role: 'command', observe: () => {}, onFailure: () => {} });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Adds a token. It can read and write plants unless other scopes are given. */
export function addToken(
  databaseUrl: string,
  wanted: Partial<NewToken> = {},
): Promise<{ token: Token; secret: string }> {
  const scopes = wanted.scopes ?? ['plants:read', 'plants:write'];
  const token = { name: 'test', expiresMs: null, ...wanted, scopes };
  return besideServer(databaseUrl, (store) => issueToken(store, token, Date.now()));
}
