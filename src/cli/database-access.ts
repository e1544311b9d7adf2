// How a command gets at the records: straight into the database, also while a server runs on it, or through a server.

import { existsSync } from 'node:fs';
import { createClient } from '../client/client.ts';
import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { Author, PlantStore } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { openStore } from '../service/open-store.ts';
import { type Asking, explain } from './remote.ts';
import { readServerUrl, requireToken } from './server-address.ts';

/** Author in the change log of what a command writes, which uses no token. */
export const CLI: Author = { tokenId: 'cli' };

export async function withStore<T>({ database }: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(database, { role: 'command', observe: () => {}, onFailure: () => {} });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** With a URL the server that is there, which knows the author by its token. */
export async function withPlants<T>(
  config: Config,
  url: string | undefined,
  { isRead }: Asking,
  work: (store: PlantStore) => Promise<T>,
): Promise<T> {
  if (url === undefined) return withStore(config, work);
  readServerUrl(url);
  if (config.clientToken === undefined) {
    throw new UsageError('--url needs a token: set PLANT_STORE_TOKEN to one that "token create" gave');
  }
  return work(createClient({ url, token: requireToken(config.clientToken) })).catch((error) => {
    throw error instanceof PlantStoreError ? new UserError(explain(error, url, isRead)) : error;
  });
}

/** Where a command would make a store, fit to be shown: in the wrong folder it is one that no server uses. */
export function newStorePath({ database }: Config): string | undefined {
  return database.kind === 'postgres' || existsSync(database.path) ? undefined : toSafeText(database.path);
}

/** Looking into a file that is not there must not make one. */
export function requireDatabase(config: Config): void {
  const missing = newStorePath(config);
  if (missing)
    throw new UserError(`There is no database at ${missing}: set DATABASE_URL to the one that the server uses`);
}
