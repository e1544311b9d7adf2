// Implements the store on SQLite. Reads use their own connection, and writes go through the group commit. One thread
// opens the store, and other threads of the process can join it.

import { stat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeStore } from '../../domain/change.ts';
import { matchesAll } from '../../domain/list-cursor.ts';
import { fieldOf } from '../../domain/list-order.ts';
import type { PlantStore } from '../../domain/plant.ts';
import type { Store, StoreStats } from '../../domain/store.ts';
import { SharedCount } from '../../lib/shared-count.ts';
import { UserError } from '../../lib/user-error.ts';
import { createBugReport } from '../../observability/bug-report.ts';
import type { Observe } from '../../observability/service-events.ts';
import { CommitCounter } from '../commit-counter.ts';
import { createDryRun } from '../dry-run.ts';
import { createFollow } from '../follow-changes.ts';
import { PRUNED_AT_ONCE } from '../write-limits.ts';
import { createPlantWrites } from '../write-rules.ts';
import { prepareChangeReads } from './changes-read.ts';
import { openReader, prepareDatabase, type Role } from './database.ts';
import { createImportBatcher } from './import-batcher.ts';
import { readLastBackup } from './last-backup.ts';
import { createNameOrder } from './name-order.ts';
import { prepareReads } from './plants-read.ts';
import { createReadBatcher } from './read-batcher.ts';
import { openExportSnapshot } from './read-snapshot.ts';
import { guardReads } from './sqlite-errors.ts';
import { createSummaries } from './summary.ts';
import { createThreadedSearch } from './threaded-search.ts';
import { createTokenStore } from './tokens.ts';
import { createWebhookStore } from './webhooks.ts';
import { WriteQueues } from './write-queues.ts';
import { Writer, type WriterConnections } from './writer.ts';

export interface SqliteOptions {
  observe: Observe;
  /** Called once, when the disk or the file is no longer reliable. The process must exit. */
  onFailure(cause: Error): void;
  clock?: () => number;
}

/** What another thread needs to join the store. It can be sent to the thread, with its ports as transferred objects. */
export type SqliteJoin = { path: string } & WriterConnections;

export interface SqliteStore extends Store {
  /** Returns what one more thread of this process needs to join the store. Close its store before this one. */
  toJoin(): SqliteJoin;
  /** Rejects all writes and stops for good, because another thread found the disk or the file unreliable. */
  fail(cause: Error): void;
}

/** Opens the store. Throws UserError if the file cannot be used. */
export async function openSqliteStore(options: SqliteOptions & { path: string; role: Role }): Promise<SqliteStore> {
  const { path: givenPath, role, observe } = options;
  const { path, lockPath, release } = prepareDatabase(givenPath, role);
  const cleanUp = new AsyncDisposableStack();
  cleanUp.defer(release);
  try {
    const writer = await Writer.start(path, lockPath, observe);
    cleanUp.defer(() => writer.close());
    const toJoin = () => ({ path, ...writer.connect() });
    const onFailure = (error: Error) => {
      writer.fail(error.message);
      observe({ kind: 'store_failed', error });
      options.onFailure(error);
    };
    const own = toJoin();
    const queues = new WriteQueues(own, onFailure);
    cleanUp.defer(() => queues.close());
    const db = openReader(path);
    cleanUp.defer(() => db.close());
    const parts = prepareParts(own, { db, queues, addsWhenQuiet: true }, options);
    return {
      ...createStore(parts),
      toJoin,
      fail: (cause) => queues.fail(cause),
      async close() {
        await endWork(parts);
        if (queues.hasFailed) return; // closing the file would write to it
        await writer.emptyWal().catch((error) => {
          queues.fail(error);
          throw error;
        });
        db.close();
        await writer.close(); // the last connection to close deletes the WAL, which marks a clean stop
        release();
      },
    };
  } catch (error) {
    await cleanUp.disposeAsync();
    throw new UserError(`Cannot use ${givenPath}: ${(error as Error).message}`);
  }
}

/** Opens the store in another thread of the process that has opened it. */
export function joinSqliteStore(join: SqliteJoin, options: SqliteOptions): Store {
  const db = openReader(join.path);
  const queues = new WriteQueues(join, options.onFailure);
  const parts = prepareParts(join, { db, queues, addsWhenQuiet: false }, options);
  return {
    ...createStore(parts),
    async close() {
      await endWork(parts);
      if (!queues.hasFailed) db.close();
    },
  };
}

type Parts = ReturnType<typeof prepareParts>;

function prepareParts(
  join: SqliteJoin,
  { db, queues, addsWhenQuiet }: { db: DatabaseSync; queues: WriteQueues; addsWhenQuiet: boolean },
  { observe, clock = Date.now }: SqliteOptions,
) {
  const { path } = join;
  const reads = prepareReads(db);
  const changeReads = prepareChangeReads(db);
  const { memory } = join.requests;
  const commits = new CommitCounter(memory.commits);
  const write: WriteQueues['write'] = (wanted) => queues.write(wanted);
  const guard = guardReads((error) => queues.fail(error));
  const { lastSeq } = changeReads;
  const search = createThreadedSearch(path);
  const summaries = createSummaries(path, clock);
  const stats = prepareStats(db, lastSeq, path);
  const follow = createFollow(async (query) => guard.read(() => changeReads.changes(query)), commits);
  const readBatcher = createReadBatcher(db);
  const nameOrder = createNameOrder(db, {
    lastSeq,
    orderNames: (atMost) => write({ kind: 'order_names', atMost }),
    commits,
    addsWhenQuiet,
    reportBug: createBugReport(observe),
  });
  return {
    ...{ path, clock, queues, write, guard, db, reads, changeReads, readBatcher },
    endings: new SharedCount(memory.endings),
    ...{ search, summaries, stats, follow, nameOrder },
  };
}

/** Commits all earlier writes and ends everything that this thread uses, except its connection for reads. */
async function endWork({ nameOrder, summaries, queues, search }: Parts): Promise<void> {
  nameOrder.close();
  const committed = queues.close(); // from now on, it accepts no writes
  await summaries.close();
  if (queues.hasFailed) return;
  await search.close();
  await committed;
}

function createStore(parts: Parts): Omit<Store, 'close'> {
  const { db, guard, reads, changeReads, stats, write, queues } = parts;
  const { read } = guard;

  return {
    ...createPlantStore(parts),
    ...createChangeStore(parts),
    ...createTokenStore(db, { read, write }),
    ...createWebhookStore(db, {
      read,
      write,
      hasChangesAfter: (seq) => read(() => changeReads.changes({ after: seq, limit: 1 })).length > 0,
    }),
    openDryRun: () => createDryRun((plants) => guard.readAsync(() => reads.compare(plants))),
    queuedWrites: () => queues.queued(),
    stats: () => guard.readAsync(stats),
    async probe() {
      await write({ kind: 'probe' });
    },
  };
}

function createPlantStore(parts: Parts): PlantStore {
  const { path, clock, write, reads, readBatcher, endings, search, summaries, nameOrder } = parts;
  const { read, readAsync } = parts.guard;
  const importPlants = createImportBatcher((image, { tokenId }) =>
    write({ kind: 'create_plants', image, tokenId, nowMs: clock() }),
  );

  return {
    ...createPlantWrites(write, clock),
    get(id) {
      return readAsync(() => readBatcher(() => reads.get(id)));
    },
    list(query = {}, requester = {}) {
      return readAsync(async () => {
        if (!matchesAll(query)) return search.list(query, requester);
        if (fieldOf(query.sort ?? 'id') === 'name') await nameOrder.prepareList();
        if (query.offset === 0) search.prepare(); // the next page of such a reader may have any offset
        return query.offset ? search.list(query, requester) : reads.list(query);
      });
    },
    count(filter = {}, requester = {}) {
      return readAsync(() => (matchesAll(filter) ? reads.count(filter) : search.count(filter, requester)));
    },
    async import(plants, by) {
      if (plants.length === 0) return { created: 0, replayed: 0, failed: 0, errors: [] };
      return importPlants(plants, by);
    },
    export: async () => openExportSnapshot(path, read, endings),
    summary: () => readAsync(summaries.read),
  };
}

function createChangeStore({ write, guard, changeReads, follow, nameOrder }: Parts): ChangeStore {
  return {
    async changes(query = {}) {
      return guard.read(() => changeReads.changes(query));
    },
    async changePage(query) {
      return guard.read(() => changeReads.changePage(query));
    },
    async history(plantId, query = {}) {
      return guard.read(() => changeReads.history(plantId, query));
    },
    lastSeq: async () => guard.read(changeReads.lastSeq),
    follow,
    async pruneChanges(beforeMs) {
      await nameOrder.catchUp(); // only changes whose names are in the order can be pruned
      for (let total = 0; ; ) {
        const pruned = await write({ kind: 'prune_changes', beforeMs });
        total += pruned;
        if (pruned < PRUNED_AT_ONCE) return total;
      }
    },
  };
}

/** Returns a function that reads the statistics that need no counting. */
function prepareStats(db: DatabaseSync, lastSeq: () => number, path: string): () => Promise<StoreStats> {
  const { user_version: schemaVersion } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  return async () => {
    const [bytes, walBytes] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
    return {
      lastSeq: lastSeq(),
      bytes: bytes + walBytes,
      walBytes,
      schemaVersion,
      lastBackup: await readLastBackup(path),
    };
  };
}

/** Returns the size of a file, or 0 if it does not exist. */
async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}
