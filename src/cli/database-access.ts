// Opens the database for a command, which can run beside a server.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { Author } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { openStore } from '../service/open-store.ts';
import type { CommandIo } from './command-io.ts';
import { writeWords } from './terminal/report.ts';

/** Author that the change log records for commands that write without a token. */
export const CLI: Author = { tokenId: 'cli' };

export async function withStore<T>({ database }: Config, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(database, { role: 'command', observe: () => {}, onFailure: () => {} });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Prints a line if the command will create a new store: one in the wrong folder is one that no server uses. */
export function announceNewStore({ stderr }: CommandIo, config: Config): void {
  const path = newStorePath(config);
  if (path === undefined) return;
  writeWords(stderr, `Creating a new store at ${path}. If your server uses another database, set DATABASE_URL to it.`);
}

/** Returns the absolute path, as safe text, at which the command would create a new store. */
function newStorePath({ database }: Config): string | undefined {
  return database.kind === 'postgres' || existsSync(database.path) ? undefined : toSafeText(resolve(database.path));
}

/** Runs `work` on a database. Throws UserError if the database does not exist. */
export async function withExistingStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  requireDatabase(config);
  return withStore(config, work);
}

/** Throws UserError if the database does not exist: a command that only reads must not create one. */
export function requireDatabase(config: Config): void {
  const missing = newStorePath(config);
  if (missing) {
    throw new UserError(`No database at ${missing}. Set DATABASE_URL to the database that the server uses.`);
  }
}

/** Returns the path of the SQLite database. */
export function requireSqlite({ database }: Config): string {
  if (database.kind === 'sqlite') return database.path;
  throw new UsageError(
    'This command supports SQLite only. Back up PostgreSQL with its own tools: see docs/guides/postgresql.md.',
  );
}
