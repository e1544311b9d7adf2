// Opens the database for a command, which can run beside a server.

import type { Config, Database } from '../config/config.ts';
import type { Author } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import { docsPage } from '../lib/docs-page.ts';
import { UsageError } from '../lib/user-error.ts';
import { openStore } from '../service/open-store.ts';

/** Author that the change log records for commands that write without a token. */
export const CLI: Author = { tokenId: 'cli' };

/** Runs `work` on a database. Throws UserError if it has no store. */
export async function withDatabase<T>(database: Database, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(database, { role: 'command', mustExist: true, observe: () => {}, onFailure: () => {} });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Returns the path of the SQLite database. */
export function requireSqlite({ database }: Config): string {
  if (database.kind === 'sqlite') return database.path;
  throw new UsageError(
    `This command supports SQLite only. Back up PostgreSQL with its own tools: see ${docsPage('guides/postgresql.md')}.`,
  );
}
