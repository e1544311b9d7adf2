// Implements the store on PostgreSQL, which any number of nodes can share. It uses no session state, so that nodes can
// connect through a pooler.

import { randomUUID } from 'node:crypto';
import type { Store } from '../../domain/store.ts';
import { SharedCount } from '../../lib/shared-count.ts';
import { createBugReport } from '../../observability/bug-report.ts';
import type { Observe } from '../../observability/service-events.ts';
import { CommitCounter } from '../commit-counter.ts';
import { createFollow } from '../follow-changes.ts';
import { QueueRoom } from '../queue-room.ts';
import { createPlantWrites } from '../write-rules.ts';
import { lastSeq, pruneChanges, readChangePage, readChanges, readHistory } from './change-log.ts';
import { listenForChanges, startNotifier } from './change-notify.ts';
import { createPool } from './connect.ts';
import { type Purpose, prepareDatabase } from './database.ts';
import { createDeliveryStore } from './deliveries.ts';
import { openSnapshot } from './export-snapshot.ts';
import { createImport, GroupCommit } from './group-commit.ts';
import { createNameKeys } from './name-keys.ts';
import { type SchemaRow, selectSchema } from './schema.ts';
import { createStoreQueries } from './store-queries.ts';
import { createPlantReads } from './store-reads.ts';
import { createTokenStore } from './tokens.ts';
import { createTransactions } from './transaction.ts';
import { createWebhookStore } from './webhooks.ts';

const MAX_TRANSACTIONS = 3;

export interface PostgresOptions {
  url: string;
  /** Number of connections of all threads. */
  poolSize: number;
  /** Number of threads that share the connections, 1 by default. */
  threads?: number;
  statementTimeoutMs: number;
  observe: Observe;
  /** Called when the schema no longer fits this version. The process must exit. */
  onFailure?(error: Error): void;
  clock?: () => number;
  /** True if the store must exist. By default it is created in an empty database. */
  mustExist?: boolean;
}

type StoreOptions = Pick<PostgresOptions, 'observe' | 'onFailure' | 'clock'>;

/** What another thread needs to join the store. It can be sent to the thread. */
export interface PostgresJoin
  extends Omit<PostgresOptions, 'threads' | 'observe' | 'onFailure' | 'clock' | 'mustExist'> {
  /** Number of threads that share the connections. */
  threads: SharedArrayBuffer;
  /** Id of this node in notifications. */
  node: string;
  /** Room in the write queues of all threads. */
  room: SharedArrayBuffer;
  /** Number of commits of all threads, and of notifications from other nodes. */
  commits: SharedArrayBuffer;
  /** Number of commits of all threads. */
  ownCommits: SharedArrayBuffer;
  /** Number of times that writes started to fail or recovered. */
  failing: SharedArrayBuffer;
}

export interface PostgresStore extends Store {
  /** What each other thread of this process needs to join the store. */
  join: PostgresJoin;
  /** Leaves the connections of a thread that does not join the store to the others. */
  freeShare(): void;
}

/** Opens the store. Throws UserError if the database cannot be used. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, poolSize, threads = 1, statementTimeoutMs, observe, mustExist } = options;
  const [commits, ownCommits] = [new CommitCounter(), new CommitCounter()];
  const sharing = new SharedCount();
  sharing.add(threads);
  const join = {
    ...{ url, poolSize, threads: sharing.memory, statementTimeoutMs },
    node: randomUUID(),
    room: new QueueRoom().memory,
    commits: commits.memory,
    ownCommits: ownCommits.memory,
    failing: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
  const connection = await connect(join, options, mustExist ? 'command' : 'server');
  const { transactions, completeNames } = connection;
  const store = createStore(join, connection, options);
  completeNames().catch(() => {}); // the next list by name tries again, and reports its error
  const reportBug = createBugReport(observe);
  const notifier = startNotifier({ transactions, commits: ownCommits, node: join.node, reportBug });
  const listener = listenForChanges({ ...join, onChanges: () => commits.add(), reportBug });
  return {
    ...store,
    join,
    freeShare: () => sharing.add(-1),
    async close() {
      await store.close();
      await notifier.close();
      await transactions.end();
      await listener.close();
    },
  };
}

/** Opens the store in another thread of the process that has opened it. */
export async function joinPostgresStore(join: PostgresJoin, options: StoreOptions): Promise<Store> {
  const connection = await connect(join, options, 'server');
  const store = createStore(join, connection, options);
  return {
    ...store,
    async close() {
      await store.close();
      await connection.transactions.end();
    },
  };
}

type Connection = Awaited<ReturnType<typeof connect>>;

async function connect(
  { url, poolSize, threads, statementTimeoutMs, failing }: PostgresJoin,
  options: StoreOptions,
  purpose: Purpose,
) {
  const database = await prepareDatabase(url, purpose);
  const sharing = new SharedCount(threads);
  const share = () => Math.floor(poolSize / sharing.value);
  const transactions = createTransactions(createPool(url, share), { ...database, statementTimeoutMs });
  const queries = createStoreQueries(transactions, { ...options, failing: new Int32Array(failing) });
  return { database, transactions, queries, poolSize: share(), completeNames: createNameKeys(queries) };
}

/** Creates the store of a thread. Its `close` completes the writes, but does not end the connections. */
function createStore(join: PostgresJoin, connection: Connection, { observe, clock = Date.now }: StoreOptions): Store {
  const { database, transactions, queries, poolSize } = connection;
  const { names, read, select, commit } = queries;
  const room = new QueueRoom(join.room);
  const [commits, ownCommits] = [new CommitCounter(join.commits), new CommitCounter(join.ownCommits)];
  const follow = createFollow((query) => read(() => readChanges(transactions, query)), commits);
  const groupCommit = new GroupCommit({
    transactions,
    room,
    observe,
    maxTransactions: Math.max(1, Math.min(MAX_TRANSACTIONS, Math.floor(poolSize / 2))),
    onCommit(hasChanges) {
      queries.noteCommit();
      if (!hasChanges) return;
      commits.add();
      ownCommits.add();
    },
    toError: queries.noteFailure,
  });

  return {
    ...createPlantReads({ ...join, ...connection, clock }),
    ...createPlantWrites((write) => groupCommit.write(write), clock),
    import: createImport(groupCommit, clock),
    export: () => read(() => openSnapshot(join.url, database)),
    changes: (query = {}) => read(() => readChanges(transactions, query)),
    changePage: (query) => read(() => readChangePage(transactions, query)),
    history: (plantId, query = {}) => read(() => readHistory(transactions, plantId, query)),
    async lastSeq() {
      const [row] = await select<{ seq: bigint }>({ text: lastSeq(names.tables) });
      return Number(row?.seq);
    },
    follow,
    pruneChanges: (beforeMs) => pruneChanges(queries, beforeMs),
    ...createTokenStore(queries),
    ...createWebhookStore(queries),
    ...createDeliveryStore(queries),
    queuedWrites: () => room.writes,
    async stats() {
      const text = `
        SELECT (${lastSeq(names.tables)}) AS seq, pg_database_size(current_database()) AS bytes,
          (SELECT max(version) FROM ${names.tables.plant_store_schema}) AS version`;
      const [row] = await select<{ seq: bigint; bytes: bigint; version: number }>({ text });
      return {
        lastSeq: Number(row?.seq),
        bytes: Number(row?.bytes),
        schemaVersion: Number(row?.version),
        lastBackup: null,
      };
    },
    async probe() {
      const text = `
        SELECT version, works_with, pg_logical_emit_message(true, 'plant_store', 'probe')
        FROM (${selectSchema(names.tables)}) AS schema`;
      const [row] = await commit<SchemaRow>({ text });
      queries.requireSchema(row as SchemaRow);
    },
    close: () => groupCommit.close(),
  };
}
