// Opens the store for the configured kind of database, alone or for several threads.

import type { Config, Database } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import type { Observe } from '../observability/service-events.ts';
import { CommitCounter } from '../storage/commit-counter.ts';
import type { SqliteShare } from '../storage/sqlite/store.ts';
import { QueueRoom } from '../storage/write-limits.ts';

interface StoreEvents {
  observe: Observe;
  /** Called once if the disk or the file can no longer be trusted. The process must exit. */
  onFailure(error: Error): void;
}

export interface OpenOptions extends StoreEvents {
  role: 'server' | 'command';
}

/** What another thread needs to open the same store. */
export type StoreShare = ({ kind: 'sqlite' } & SqliteShare) | ({ kind: 'postgres' } & PostgresMemory);

/** Memory that the threads share. */
interface PostgresMemory {
  room: SharedArrayBuffer;
  commits: SharedArrayBuffer;
}

export interface SharedStore {
  store: Store;
  /** Returns a share for one more thread. */
  share(): StoreShare;
  /** Stops the store for good, because another thread found the disk or the file unreliable. */
  fail(cause: Error): void;
}

/** Opens the store and loads only the modules for this database. Throws UserError if the database cannot be used. */
export async function openStore(database: Database, options: OpenOptions): Promise<Store> {
  return (await openSharedStore({ database, threads: 1 }, options)).store;
}

/** Opens the store of a process whose other threads can join it. */
export async function openSharedStore(
  { database, threads }: Pick<Config, 'database' | 'threads'>,
  { role, observe, onFailure }: OpenOptions,
): Promise<SharedStore> {
  if (database.kind === 'sqlite') {
    const { openSqliteStore } = await import('../storage/sqlite/store.ts');
    const store = await openSqliteStore({ path: database.path, role, observe, onFailure });
    return { store, share: () => ({ kind: 'sqlite', ...store.share() }), fail: store.fail };
  }
  const memory = { room: new QueueRoom().memory, commits: new CommitCounter().memory };
  const store = await openPostgres(database, threads, memory, observe);
  return { store, share: () => ({ kind: 'postgres', ...memory }), fail() {} };
}

/** Opens the store in another thread of the process. */
export async function joinStore(
  share: StoreShare,
  { database, threads }: Config,
  { observe, onFailure }: StoreEvents,
): Promise<Store> {
  if (share.kind === 'sqlite') {
    const { joinSqliteStore } = await import('../storage/sqlite/store.ts');
    return joinSqliteStore(share, { observe, onFailure });
  }
  if (database.kind !== 'postgres') throw new Error('The share is of another database');
  return openPostgres(database, threads, share, observe);
}

/** Opens the store on PostgreSQL. Each thread has an equal part of the connections. */
async function openPostgres(
  database: Database & { kind: 'postgres' },
  threads: number,
  memory: PostgresMemory,
  observe: Observe,
): Promise<Store> {
  const { openPostgresStore } = await import('../storage/postgres/store.ts');
  return openPostgresStore({
    ...database,
    poolSize: Math.floor(database.poolSize / threads),
    room: new QueueRoom(memory.room),
    commits: new CommitCounter(memory.commits),
    observe,
  });
}
