// Implements the store on PostgreSQL, which any number of nodes can share. It uses no session state, so that nodes can
// connect through a pooler.

import { randomUUID } from 'node:crypto';
import { unavailable } from '../../domain/errors.ts';
import { matchesAll } from '../../domain/list-cursor.ts';
import { fieldOf } from '../../domain/list-order.ts';
import type { ImportError } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import { createBugReport } from '../../observability/bug-report.ts';
import type { Observe } from '../../observability/service-events.ts';
import { CommitCounter } from '../commit-counter.ts';
import { createDryRun } from '../dry-run.ts';
import { createFollow } from '../follow-changes.ts';
import { QueueRoom } from '../queue-room.ts';
import { type PlantRowWithId, toRecord } from '../row-mapping.ts';
import { createPlantWrites, noPlant, type Results, toError } from '../write-rules.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { lastSeq, pruneChanges, readChangePage, readChanges, readHistory } from './change-log.ts';
import { createNotifier, listenForChanges } from './change-notify.ts';
import { createPool } from './connect.ts';
import { prepareDatabase } from './database.ts';
import { createDeliveryStore } from './deliveries.ts';
import { openSnapshot } from './export-snapshot.ts';
import { GroupCommit } from './group-commit.ts';
import { createNameKeys } from './name-keys.ts';
import { comparePlants, countPlants, listPlants, readPlants } from './plants-read.ts';
import { createStoreQueries, type StoreQueries, tooManyReads } from './store-queries.ts';
import { readSummary } from './summary.ts';
import { createTokenStore } from './tokens.ts';
import { createTransactions } from './transaction.ts';
import { createWebhookStore } from './webhooks.ts';

const MAX_WAITING_SEARCHES = 1000;
const MAX_TRANSACTIONS = 3;

export interface PostgresOptions {
  url: string;
  poolSize: number;
  statementTimeoutMs: number;
  observe: Observe;
  clock?: () => number;
}

/** What another thread needs to join the store. It can be sent to the thread. */
export interface PostgresJoin extends Omit<PostgresOptions, 'observe' | 'clock'> {
  /** Id of this node in notifications. */
  node: string;
  /** Room in the write queues of all threads. */
  room: SharedArrayBuffer;
  /** Number of commits of all threads. */
  commits: SharedArrayBuffer;
  /** Whether writes are failing. */
  failing: SharedArrayBuffer;
}

export interface PostgresStore extends Store {
  /** What each other thread of this process needs to join the store. */
  join: PostgresJoin;
}

/** Opens the store. Throws UserError if the database cannot be used. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { url, poolSize, statementTimeoutMs, observe } = options;
  const commits = new CommitCounter();
  const join = {
    ...{ url, poolSize, statementTimeoutMs },
    node: randomUUID(),
    room: new QueueRoom().memory,
    commits: commits.memory,
    failing: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
  };
  const store = await joinPostgresStore(join, options);
  const listener = listenForChanges({ ...join, onChanges: () => commits.add(), reportBug: createBugReport(observe) });
  return {
    ...store,
    join,
    async close() {
      await store.close();
      await listener.close();
    },
  };
}

/** Opens the store in another thread of the process that has opened it. */
export async function joinPostgresStore(
  join: PostgresJoin,
  { observe, clock = Date.now }: Pick<PostgresOptions, 'observe' | 'clock'>,
): Promise<Store> {
  const { url, poolSize, statementTimeoutMs } = join;
  const database = await prepareDatabase(url);
  const transactions = createTransactions(createPool(url, poolSize), { ...database, statementTimeoutMs });
  const queries = createStoreQueries(transactions, new Int32Array(join.failing), observe);
  const { names, read, select, commit } = queries;
  const room = new QueueRoom(join.room);
  const commits = new CommitCounter(join.commits);
  const follow = createFollow((query) => read(() => readChanges(transactions, query)), commits);
  const notifier = createNotifier(transactions, join.node, createBugReport(observe));
  const groupCommit = new GroupCommit({
    transactions,
    room,
    observe,
    maxTransactions: Math.max(1, Math.min(MAX_TRANSACTIONS, Math.floor(poolSize / 2))),
    onCommit(hasChanges) {
      queries.noteCommit();
      if (!hasChanges) return;
      commits.add();
      notifier.notify();
    },
    toError: queries.noteFailure,
  });

  return {
    ...createPlantReads(queries, join, clock),
    ...createPlantWrites((write) => groupCommit.write(write), clock),
    import: createImport(groupCommit, clock),
    export: () => read(() => openSnapshot(url, database)),
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
      await commit({ text: `SELECT pg_logical_emit_message(true, 'plant_store', 'probe')` });
    },
    async close() {
      await groupCommit.close();
      notifier.close();
      await transactions.end();
    },
  };
}

function createPlantReads(
  queries: StoreQueries,
  { poolSize, statementTimeoutMs }: PostgresJoin,
  clock: () => number,
): Pick<Store, 'get' | 'list' | 'count' | 'openDryRun' | 'summary'> {
  const { read } = queries;
  const completeNames = createNameKeys(queries);
  completeNames().catch(() => {}); // the next list by name tries again, and reports its error
  const findPlant = createBatchedLookup<bigint, PlantRowWithId>(async (ids) => {
    const rows = await read((transactions) => readPlants(transactions, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }, tooManyReads);
  const runBounded = createSemaphore({
    maxConcurrent: Math.max(1, Math.floor(poolSize / 3)),
    maxQueued: MAX_WAITING_SEARCHES,
    waitMs: statementTimeoutMs,
    tooBusy: () => unavailable('Too many searches are queued. Retry later.'),
  });
  return {
    async get(id) {
      const row = await findPlant(id);
      if (!row) throw toError(noPlant(id));
      return { record: toRecord(id, row), seq: Number(row.seq) };
    },
    async list(query = {}) {
      const isPlain = matchesAll(query);
      if (isPlain && fieldOf(query.sort ?? 'id') === 'name') await completeNames();
      return read((transactions) => {
        const list = () => listPlants(transactions, query);
        return isPlain && !query.offset ? list() : runBounded(list);
      });
    },
    count(filter = {}) {
      return read((transactions) => {
        const count = () => countPlants(transactions, filter);
        return matchesAll(filter) ? count() : runBounded(count);
      });
    },
    openDryRun() {
      return createDryRun((plants) => read((transactions) => comparePlants(transactions, plants)));
    },
    summary: () => read((transactions) => runBounded(() => readSummary(transactions, clock()))),
  };
}

function createImport(groupCommit: GroupCommit, clock: () => number): Store['import'] {
  return async (plants, { tokenId }) => {
    const by = { tokenId, nowMs: clock() };
    const all = await groupCommit.writeMany(plants.map((plant) => ({ kind: 'create', id: plant.id, plant, ...by })));
    const errors: ImportError[] = [];
    let created = 0;
    for (const [at, written] of all.entries()) {
      if (written instanceof Error) throw written;
      if ('rejected' in written) errors.push({ line: at + 1, error: toError(written) });
      else if (!(written.done as Results['create']).replayed) created++;
    }
    return { created, replayed: plants.length - created - errors.length, failed: errors.length, errors };
  };
}
