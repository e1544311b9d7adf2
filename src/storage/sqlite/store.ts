// Implements the store on SQLite. Reads use their own connection, and writes go through the group commit.

import { stat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { ChangeStore } from '../../domain/change.ts';
import { matchesAll } from '../../domain/list-cursor.ts';
import { fieldOf } from '../../domain/list-order.ts';
import type { PlantStore } from '../../domain/plant.ts';
import type { Store, StoreStats } from '../../domain/store.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { UserError } from '../../lib/user-error.ts';
import { createBugReport } from '../../observability/bug-report.ts';
import type { Observe } from '../../observability/service-events.ts';
import { createDryRun } from '../dry-run.ts';
import { createFollow } from '../follow-changes.ts';
import { PRUNED_AT_ONCE, requireRoomForExport } from '../write-limits.ts';
import { createPlantWrites } from '../write-rules.ts';
import { prepareChangeReads } from './changes-read.ts';
import { openReader, type PreparedDatabase, prepareDatabase, type Role } from './database.ts';
import { type GroupCommit, startGroupCommit } from './group-commit.ts';
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

export interface SqliteOptions {
  path: string;
  role: Role;
  observe: Observe;
  /** Called once, when the disk or the file is no longer reliable. The process must exit. */
  onFailure(): void;
  clock?: () => number;
}

/** Opens the store. Throws UserError if the file cannot be used. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path: givenPath, role, observe, onFailure, clock = Date.now } = options;
  const database = prepareDatabase(givenPath, role);
  const { path, lockPath, release } = database;
  const cleanUp = new AsyncDisposableStack();
  cleanUp.defer(release);
  try {
    const onCommit = () => {
      parts.follow.onCommit();
      parts.nameOrder.onCommit();
    };
    const writer = await startGroupCommit({ path, lockPath, observe, onCommit, onFailure });
    cleanUp.defer(() => writer.close());
    const db = openReader(path);
    cleanUp.defer(() => db.close());
    const parts = prepareParts(database, writer, db, { observe, clock });
    return createStore(parts);
  } catch (error) {
    await cleanUp.disposeAsync();
    throw new UserError(`Cannot use ${givenPath}: ${(error as Error).message}`);
  }
}

type Parts = ReturnType<typeof prepareParts>;

function prepareParts(
  database: PreparedDatabase,
  writer: GroupCommit,
  db: DatabaseSync,
  { observe, clock }: { observe: Observe; clock: () => number },
) {
  const { path } = database;
  const write: GroupCommit['write'] = (wanted) => writer.write(wanted);
  const guard = guardReads((error) => writer.fail(error));
  const reads = prepareReads(db);
  const changeReads = prepareChangeReads(db);
  const { lastSeq } = changeReads;
  const search = createThreadedSearch(path);
  const summaries = createSummaries(path, clock);
  const stats = prepareStats(db, lastSeq, path);
  const follow = createFollow(async (query) => guard.read(() => changeReads.changes(query)));
  const readBatcher = createReadBatcher(db);
  const nameOrder = createNameOrder(db, {
    lastSeq,
    orderNames: (atMost) => write({ kind: 'order_names', atMost }),
    reportBug: createBugReport(observe),
  });
  return {
    ...{ database, clock, writer, write, guard, db, reads, changeReads, readBatcher },
    ...{ search, summaries, stats, follow, nameOrder },
  };
}

function createStore(parts: Parts): Store {
  const { db, database, guard, reads, changeReads, nameOrder, search, stats, summaries, write, writer } = parts;
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
    queuedWrites: () => writer.waiting(),
    stats: () => guard.readAsync(stats),
    async probe() {
      await write({ kind: 'probe' });
    },
    async close() {
      nameOrder.close();
      const counting = summaries.close();
      if (counting) await counting; // an unneeded await would accept writes for a moment longer
      if (writer.hasFailed) return; // closing the file would write to it
      const searching = search.close();
      if (searching) await searching; // awaited only if a search is in progress, as above
      db.close();
      await writer.close(); // the last connection to close empties the WAL, which marks a clean stop
      database.release();
    },
  };
}

function createPlantStore(parts: Parts): PlantStore {
  const { database, clock, write, reads, readBatcher, search, summaries, nameOrder } = parts;
  const { read, readAsync } = parts.guard;
  const importPlants = createImportBatcher((image, { tokenId }) =>
    write({ kind: 'create_plants', image, tokenId, nowMs: clock() }),
  );
  let exports = 0;

  return {
    ...createPlantWrites(write, clock),
    get(id) {
      return readAsync(() => readBatcher(() => reads.get(id)));
    },
    list(query = {}) {
      return readAsync(async () => {
        if (!matchesAll(query)) return search.list(query);
        if (fieldOf(query.sort ?? 'id') === 'name') await nameOrder.prepareList();
        if (query.offset === 0) search.prepare(); // the next page of such a reader may have any offset
        return query.offset ? search.list(query) : reads.list(query);
      });
    },
    count(filter = {}) {
      return readAsync(() => (matchesAll(filter) ? reads.count(filter) : search.count(filter)));
    },
    async import(plants, by) {
      if (plants.length === 0) return { created: 0, replayed: 0, failed: 0, errors: [] };
      return importPlants(plants, by);
    },
    async export() {
      requireRoomForExport(exports);
      const snapshot = openExportSnapshot(database.path, read, () => exports--);
      exports++;
      return snapshot;
    },
    summary: () => readAsync(summaries.read),
  };
}

function createChangeStore({ write, guard, changeReads, follow, nameOrder }: Parts): ChangeStore {
  return {
    async changes(query = {}) {
      await nextEventLoopTurn(); // the caller serializes the page in the same turn
      return guard.read(() => changeReads.changes(query));
    },
    async changePage(query) {
      await nextEventLoopTurn();
      return guard.read(() => changeReads.changePage(query));
    },
    async history(plantId, query = {}) {
      await nextEventLoopTurn();
      return guard.read(() => changeReads.history(plantId, query));
    },
    lastSeq: async () => guard.read(changeReads.lastSeq),
    follow: (options = {}) => follow.follow(options),
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
    const files = await Promise.all([path, `${path}-wal`].map((file) => stat(file).catch(() => undefined)));
    const bytes = files.reduce((sum, file) => sum + (file?.size ?? 0), 0); // may lack a WAL
    return { lastSeq: lastSeq(), bytes, schemaVersion, lastBackup: await readLastBackup(path) };
  };
}
