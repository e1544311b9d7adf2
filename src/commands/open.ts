// How a command gets at the records: straight into the database, also while a server runs on it, or through one.

import { existsSync } from 'node:fs';
import { createClient } from '../client.ts';
import type { Config } from '../config.ts';
import type { Author, PlantStore } from '../plant.ts';
import { Refusal } from '../refusal.ts';
import { openSqliteStore } from '../sqlite/store.ts';
import type { Store } from '../store.ts';

/** Stands in the change log where no token was used. */
export const CLI: Author = { tokenId: 'cli' };

export async function withStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openSqliteStore({
    path: config.databasePath,
    role: 'command',
    observe: () => {},
    onFailure: () => {},
  });
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
  work: (store: PlantStore) => Promise<T>,
): Promise<T> {
  if (url === undefined) return withStore(config, work);
  if (!/^https?:\/\/./.test(url) || !URL.canParse(url)) {
    throw new Refusal('--url takes the address of a server, such as http://127.0.0.1:3000', 2);
  }
  if (config.clientToken === undefined) {
    throw new Refusal('--url needs a token: set PLANT_STORE_TOKEN to one that "token create" gave', 2);
  }
  return work(createClient({ url, token: config.clientToken }));
}

/** Looking into a file that is not there must not make one. */
export function requireDatabase({ databasePath }: Config): void {
  if (existsSync(databasePath)) return;
  throw new Refusal(`There is no database at ${databasePath}: set DATABASE_URL to the one that the server uses`);
}
