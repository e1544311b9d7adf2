// Opens the store for the configured kind of database, alone or for several threads.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config, Database } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import { UserError } from '../lib/user-error.ts';
import type { Observe } from '../observability/service-events.ts';
import type { PostgresJoin } from '../storage/postgres/store.ts';
import type { SqliteJoin } from '../storage/sqlite/store.ts';

interface StoreEvents {
  observe: Observe;
  /** Called once if the disk or the file can no longer be trusted, or the schema is unsupported. The process must exit. */
  onFailure(error: Error): void;
}

interface OpenOptions extends StoreEvents {
  role: 'server' | 'command';
  /** True if the store must exist: only a server, a restore and a copy create stores. */
  mustExist?: boolean;
}

/** What another thread needs to join the store. */
export type StoreJoin = ({ kind: 'sqlite' } & SqliteJoin) | ({ kind: 'postgres' } & PostgresJoin);

export interface SharedStore {
  store: Store;
  /** Returns what one more thread of this process needs to join the store. */
  toJoin(): StoreJoin;
  /** Leaves the connections of a thread that has not started to the others. */
  freeShare(): void;
  /** Stops the store for good, because another thread found the disk, the file or the schema unreliable. */
  fail(cause: Error): void;
}

/** Opens the store and loads only the modules for this database. Throws UserError if the database cannot be used. */
export async function openStore(database: Database, options: OpenOptions): Promise<Store> {
  return (await openSharedStore({ database, threads: 1 }, options)).store;
}

/** Opens the store of a process whose other threads can join it. On PostgreSQL, all have equal parts of the connections. */
export async function openSharedStore(
  { database, threads }: Pick<Config, 'database' | 'threads'>,
  { role, observe, onFailure, mustExist = false }: OpenOptions,
): Promise<SharedStore> {
  if (database.kind === 'sqlite') {
    if (mustExist) requireFile(database.path);
    const { openSqliteStore } = await import('../storage/sqlite/store.ts');
    const store = await openSqliteStore({ path: database.path, role, observe, onFailure });
    return { store, toJoin: () => ({ kind: 'sqlite', ...store.toJoin() }), freeShare() {}, fail: store.fail };
  }
  const { openPostgresStore } = await import('../storage/postgres/store.ts');
  let hasFailed = false;
  const fail = (error: Error) => {
    if (hasFailed) return;
    hasFailed = true;
    observe({ kind: 'schema_unsupported', error });
    onFailure(error);
  };
  const store = await openPostgresStore({ ...database, threads, observe, onFailure: fail, mustExist });
  return { store, toJoin: () => ({ kind: 'postgres', ...store.join }), freeShare: store.freeShare, fail };
}

/** Throws UserError if the file of a SQLite database does not exist. */
export function requireFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return; // other failures are thrown, such as EACCES
  throw new UserError(
    `No database at ${resolve(path)}. Set DATABASE_URL to the database of your server, sign in to a server with "plant-store login", or create a store with "plant-store serve".`,
  );
}

/** Opens the store in another thread of the process. */
export async function joinStore(join: StoreJoin, { observe, onFailure }: StoreEvents): Promise<Store> {
  if (join.kind === 'sqlite') {
    const { joinSqliteStore } = await import('../storage/sqlite/store.ts');
    return joinSqliteStore(join, { observe, onFailure });
  }
  const { joinPostgresStore } = await import('../storage/postgres/store.ts');
  return joinPostgresStore(join, { observe, onFailure });
}
