// The store on SQLite: reads on a connection of its own, writes through the group commit.

import type { ChangeStore } from '../../domain/change.ts';
import type { Author, PlantStore } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { UserError } from '../../lib/user-error.ts';
import type { Observe } from '../../observability/service-events.ts';
import { createFollow, type Follow } from '../follow-changes.ts';
import { cannotRead, requireRoomForExport } from '../write-limits.ts';
import { type Authorship, requireSameId } from '../write-rules.ts';
import { openReader, type PreparedDatabase, prepareDatabase, type Role } from './database.ts';
import { openExportSnapshot } from './export-snapshot.ts';
import { type GroupCommit, startGroupCommit } from './group-commit.ts';
import { createImportBatcher } from './import-batcher.ts';
import { type PlantReads, prepareReads } from './plants-read.ts';
import { createReadBatcher, type ReadBatcher } from './read-batcher.ts';
import { failureOf } from './sqlite-errors.ts';
import { prepareStats } from './stats.ts';
import { createSummaries, type Summaries } from './summary.ts';
import { createThreadedSearch, type ThreadedSearch } from './threaded-search.ts';
import { createTokenStore } from './tokens.ts';
import { createWebhookStore } from './webhooks.ts';

export interface SqliteOptions {
  path: string;
  role: Role;
  observe: Observe;
  /** Called once, when the disk or the file can no longer be trusted: the process must end. */
  onFailure(): void;
  clock?: () => number;
}

/** Throws UserError when the file cannot be used. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, role, clock = Date.now } = options;
  const database = prepareDatabase(path, role);
  let hasFailed = false;
  const writer = await openWriter(database, options, {
    onCommit: () => follow.onCommit(),
    onFailure() {
      hasFailed = true;
      options.onFailure();
    },
  });
  const guard = guardReads((error) => writer.fail(error));
  const { read, readAsync } = guard;
  const db = openReader(database.path);
  const reads = prepareReads(db);
  const search = createThreadedSearch(database.path);
  const summaries = createSummaries(database.path, clock);
  const stats = prepareStats(db, database.path);
  const follow = createFollow(async (query) => read(() => reads.changes(query)));
  const write: GroupCommit['write'] = (wanted) => writer.write(wanted);
  const readBatcher = createReadBatcher(db);
  const parts = { path: database.path, clock, write, guard, reads, readBatcher, search, summaries, follow };

  return {
    ...createPlantStore(parts),
    ...createChangeStore(parts),
    ...createTokenStore(db, { read, write }),
    ...createWebhookStore(db, {
      read,
      write,
      hasChangesAfter: (seq) => read(() => reads.changes({ after: seq, limit: 1 })).length > 0,
    }),
    queuedWrites: () => writer.waiting(),
    stats: () => readAsync(stats),
    async probe() {
      await write({ kind: 'probe' });
    },
    async close() {
      const counting = summaries.close();
      if (counting) await counting; // without a need, writes would be accepted for a moment longer
      if (hasFailed) return; // to close a file is to write to it
      const searching = search.close();
      if (searching) await searching; // as above
      db.close();
      await writer.close(); // the last connection to close empties the WAL, which marks a clean stop
      database.release();
    },
  };
}

async function openWriter(
  { path, lockPath, release }: PreparedDatabase,
  { path: givenPath, observe }: SqliteOptions,
  on: { onCommit(): void; onFailure(): void },
): Promise<GroupCommit> {
  try {
    return await startGroupCommit({ path, lockPath, observe, ...on });
  } catch (error) {
    release();
    throw new UserError(`Cannot use ${givenPath}: ${(error as Error).message}`);
  }
}

interface Parts {
  path: string;
  clock: () => number;
  write: GroupCommit['write'];
  guard: ReadGuard;
  reads: PlantReads;
  readBatcher: ReadBatcher;
  search: ThreadedSearch;
  summaries: Summaries;
  follow: Follow;
}

function createPlantStore(parts: Parts): PlantStore {
  const { path, clock, write, reads, readBatcher, search, summaries } = parts;
  const { read, readAsync } = parts.guard;
  const importPlants = createImportBatcher((image, by) => write({ kind: 'create_plants', image, ...authorship(by) }));
  let exports = 0;

  return {
    create({ id, name, tag }, { tokenId }) {
      return write({ kind: 'create', id, plant: { name, tag }, tokenId, nowMs: clock() });
    },
    get(id) {
      return readAsync(() => readBatcher(() => reads.get(id)));
    },
    list(query = {}) {
      const isPlain = query.tag === undefined && query.q === undefined;
      return readAsync(() => (isPlain ? reads.list(query) : search.list(query)));
    },
    put(id, plant, { ifMatch, ifNoneMatch, ...by }) {
      return write({ kind: 'put', id, plant, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async patch(id, patch, { ifMatch, ifNoneMatch, ...by }) {
      requireSameId(id, patch);
      return write({ kind: 'patch', id, patch, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async delete(id, { ifMatch, ifNoneMatch, ...by }) {
      await write({ kind: 'delete', id, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async import(plants, by) {
      if (plants.length === 0) return { created: 0, replayed: 0, failed: 0, errors: [] };
      return importPlants(plants, by);
    },
    async export() {
      requireRoomForExport(exports);
      const snapshot = openExportSnapshot(path, read, () => exports--);
      exports++;
      return snapshot;
    },
    summary: () => readAsync(summaries.read),
  };

  function authorship({ tokenId }: Author): Authorship {
    return { tokenId, nowMs: clock() };
  }
}

function createChangeStore({ write, guard, reads, follow }: Parts): ChangeStore {
  return {
    async changes(query = {}) {
      await nextEventLoopTurn(); // also for what prints the page
      return guard.read(() => reads.changes(query));
    },
    follow: (options = {}) => follow.follow(options),
    async pruneChanges(beforeMs) {
      let total = 0;
      for (;;) {
        const { pruned, more } = await write({ kind: 'prune_changes', beforeMs });
        total += pruned;
        if (!more) return total;
      }
    },
  };
}

/** Runs reads and turns SQLite's errors into those of a store. */
interface ReadGuard {
  read<T>(query: () => T): T;
  readAsync<T>(query: () => Promise<T>): Promise<T>;
}

function guardReads(onFatal: (error: Error) => void): ReadGuard {
  return {
    read(query) {
      try {
        return query();
      } catch (error) {
        throw toReadError(error);
      }
    },
    readAsync: (query) =>
      query().catch((error) => {
        throw toReadError(error);
      }),
  };

  function toReadError(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === 'bug') return error; // also what is ours already
    if (failure === 'fatal') onFatal(error as Error);
    return cannotRead(error);
  }
}
