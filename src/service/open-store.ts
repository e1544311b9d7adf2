// How a command gets at the records: straight into the database, also while a server runs on it, or through one.

import { existsSync } from 'node:fs';
import { type Asking, explain } from '../cli/remote.ts';
import { readServerUrl, requireToken } from '../cli/server-address.ts';
import { createClient } from '../client/client.ts';
import type { Config, Database } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { Author, PlantStore } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import { visible } from '../lib/safe-text.ts';
import { Refusal } from '../lib/user-error.ts';
import type { Observe } from '../observability/service-events.ts';

/** Stands in the change log where no token was used. */
export const CLI: Author = { tokenId: 'cli' };

export interface OpenOptions {
  role: 'server' | 'command';
  observe: Observe;
  /** Called once, when the disk or the file can no longer be trusted: the process must end. */
  onFailure(): void;
}

/** Loads only what this database needs. Throws Refusal when the database cannot be used. */
export async function openStore(database: Database, { role, observe, onFailure }: OpenOptions): Promise<Store> {
  if (database.kind === 'sqlite') {
    const { openSqliteStore } = await import('../storage/sqlite/store.ts');
    return openSqliteStore({ path: database.path, role, observe, onFailure });
  }
  const { openPostgresStore } = await import('../storage/postgres/store.ts');
  return openPostgresStore({ ...database, observe });
}

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
    throw new Refusal('--url needs a token: set PLANT_STORE_TOKEN to one that "token create" gave', 2);
  }
  return work(createClient({ url, token: requireToken(config.clientToken) })).catch((error) => {
    throw error instanceof PlantStoreError ? new Refusal(explain(error, url, isRead)) : error;
  });
}

/** Where a command would make a store, fit to be shown: in the wrong folder it is one that no server uses. */
export function newStorePath({ database }: Config): string | undefined {
  return database.kind === 'postgres' || existsSync(database.path) ? undefined : visible(database.path);
}

/** Looking into a file that is not there must not make one. */
export function requireDatabase(config: Config): void {
  const missing = newStorePath(config);
  if (missing)
    throw new Refusal(`There is no database at ${missing}: set DATABASE_URL to the one that the server uses`);
}
