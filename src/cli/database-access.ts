// The database itself, also while a server runs on it.

import { existsSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { Author } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UserError } from '../lib/user-error.ts';
import { openStore } from '../service/open-store.ts';

/** Author, in the change log, of what a command writes without a token. */
export const CLI: Author = { tokenId: 'cli' };

export async function withStore<T>({ database }: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(database, { role: 'command', observe: () => {}, onFailure: () => {} });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Returns, as safe text, where a command would create a store: in the wrong folder it is one that no server uses. */
export function newStorePath({ database }: Config): string | undefined {
  return database.kind === 'postgres' || existsSync(database.path) ? undefined : toSafeText(database.path);
}

/** Runs `work` on a database that must exist. */
export async function withExistingStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  requireDatabase(config);
  return withStore(config, work);
}

/** Reading a database that does not exist must not create one. */
export function requireDatabase(config: Config): void {
  const missing = newStorePath(config);
  if (missing)
    throw new UserError(`There is no database at ${missing}: set DATABASE_URL to the one that the server uses`);
}
