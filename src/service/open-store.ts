// Opens the store for the configured kind of database.

import type { Database } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import type { Observe } from '../observability/service-events.ts';

export interface OpenOptions {
  role: 'server' | 'command';
  observe: Observe;
  /** Called once if the disk or the file can no longer be trusted. The process must exit. */
  onFailure(): void;
}

/** Opens the store and loads only the modules for this database. Throws UserError if the database cannot be used. */
export async function openStore(database: Database, { role, observe, onFailure }: OpenOptions): Promise<Store> {
  if (database.kind === 'sqlite') {
    const { openSqliteStore } = await import('../storage/sqlite/store.ts');
    return openSqliteStore({ path: database.path, role, observe, onFailure });
  }
  const { openPostgresStore } = await import('../storage/postgres/store.ts');
  return openPostgresStore({ ...database, observe });
}
