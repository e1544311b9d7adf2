// The store on PostgreSQL, which any number of nodes may share. No state of a session is used, so that a pooler may
// stand in between.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Author, ImportError } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import { createSemaphore } from '../../lib/semaphore.ts';
import { createBugReport } from '../../observability/bug-report.ts';
import type { Observe } from '../../observability/service-events.ts';
import { createFollow } from '../follow-changes.ts';
import { toRecord } from '../row-mapping.ts';
import {
  type Authorship,
  type PlantWrite,
  type Rejection,
  type Results,
  requireSameId,
  toError,
} from '../write-rules.ts';
import { createGather } from './batched-lookup.ts';
import { startWake } from './change-notify.ts';
import { createPool, prepareDatabase } from './database.ts';
import { openSnapshot } from './export-snapshot.ts';
import { createWriter } from './group-commit.ts';
import { toReadError, toWriteError } from './pg-errors.ts';
import { type ListedRow, lastSeq, listPlants, readChanges, readPlants } from './plants-read.ts';
import type { Tables } from './qualified-names.ts';
import { readSummary } from './summary.ts';
import { createTokenStore } from './tokens.ts';
import { createTransactions, type Row, type Statement } from './transaction.ts';
import { createWebhookStore } from './webhooks.ts';

/** Each has a connection of its own. */
const MAX_SNAPSHOTS = 16;
/** Reads that wait for a connection. */
const MAX_WAITING_READS = 1000;
const MAX_WAITING_SEARCHES = 1000;
const MAX_TRANSACTIONS = 3;

export interface PostgresOptions {
  url: string;
  poolSize: number;
  statementTimeoutMs: number;
  observe: Observe;
  clock?: () => number;
}

/** Throws UserError when the database cannot be used. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const { url, poolSize, statementTimeoutMs, observe, clock = Date.now } = options;
  const prepared = await prepareDatabase(url);
  const { names, synchronousCommit } = prepared;
  const pool = createPool(url, poolSize);
  const transactions = createTransactions(pool, { names, statementTimeoutMs, synchronousCommit });
  const { follow, onCommit } = createFollow((query) => read(() => readChanges(transactions, query)));
  const wake = startWake(url, transactions, onCommit, createBugReport(observe));
  const writer = createWriter({
    transactions,
    observe,
    maxTransactions: Math.max(1, Math.min(MAX_TRANSACTIONS, Math.floor(poolSize / 2))),
    onCommit(changed) {
      noteSuccess();
      if (!changed) return;
      onCommit();
      wake.tell();
    },
    toError: noteFailure,
  });
  const findPlant = createGather<bigint, ListedRow>(
    async (ids) => new Map((await read(() => readPlants(transactions, ids))).map((row) => [row.id, row])),
    tooManyReads,
  );
  const runBounded = createSemaphore({
    maxConcurrent: Math.max(1, Math.floor(poolSize / 3)),
    maxQueued: MAX_WAITING_SEARCHES,
    waitMs: statementTimeoutMs,
    tooBusy: () => unavailable('Too many searches are waiting: try again later'),
  });
  const [prune, stats] = [pruneText(names.tables), statsText(names.tables)];
  let snapshots = 0;
  let isFailing = false;

  return {
    create(plant, by) {
      return write({ kind: 'create', id: plant.id, plant, ...authorship(by) });
    },
    async get(id) {
      const row = await findPlant(id);
      if (!row) throw new PlantStoreError('not_found', `No plant has the id ${id}`);
      return { record: toRecord(id, row), seq: Number(row.seq) };
    },
    list(query = {}) {
      const isPlain = query.q === undefined && query.tag === undefined;
      const list = () => listPlants(transactions, query);
      return read(isPlain ? list : () => runBounded(list));
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
      const own = authorship(by);
      const all = await writer.writeMany(plants.map((plant) => ({ kind: 'create', id: plant.id, plant, ...own })));
      const errors: ImportError[] = [];
      let created = 0;
      for (const [at, written] of all.entries()) {
        if (written instanceof Error) throw written;
        if ('rejected' in written) errors.push({ line: at + 1, error: toError(written as Rejection) });
        else if (!(written.done as Results['create']).replayed) created++;
      }
      return { created, replayed: plants.length - created - errors.length, failed: errors.length, errors };
    },
    async export() {
      if (snapshots >= MAX_SNAPSHOTS) {
        throw new PlantStoreError('unavailable', 'Too many exports are under way: try again later');
      }
      return read(() => {
        snapshots++;
        return openSnapshot(url, prepared, () => snapshots--);
      });
    },
    summary() {
      return read(() => runBounded(() => readSummary(transactions, clock())));
    },
    changes(query = {}) {
      return read(() => readChanges(transactions, query));
    },
    follow: (options = {}) => follow(options),
    async pruneChanges(beforeMs) {
      let total = 0;
      for (;;) {
        const [row] = await commit({ text: prune, values: [beforeMs] });
        const pruned = Number(row?.pruned);
        total += pruned;
        if (pruned < PRUNED_AT_ONCE) return total;
      }
    },
    ...createTokenStore({ names, read: readOnce, commit, tooMany: tooManyReads }),
    ...createWebhookStore({
      names,
      read: readOnce,
      commit,
      async hasChangesAfter(seq) {
        const [row] = await readOnce({ text: lastSeq(names.tables) });
        if (seq >= Number(row?.seq)) return false; // also far above, where readChanges() throws
        return (await read(() => readChanges(transactions, { after: seq, limit: 1 }))).length > 0;
      },
    }),
    queuedWrites: () => writer.waiting(),
    async stats() {
      const [row] = await readOnce({ text: stats });
      return { lastSeq: Number(row?.seq), bytes: Number(row?.bytes) };
    },
    async probe() {
      await commit({ text: `SELECT pg_logical_emit_message(true, 'plant_store', 'probe')` });
    },
    async close() {
      await writer.close();
      await wake.close();
      await transactions.end();
    },
  };

  async function readOnce(statement: Statement): Promise<Row[]> {
    const [rows = []] = await read(() => transactions.read(statement));
    return rows;
  }

  function authorship({ tokenId }: Author): Authorship {
    return { tokenId, nowMs: clock() };
  }

  function write<W extends PlantWrite>(wanted: W): Promise<Results[W['kind']]> {
    return writer.write(wanted) as Promise<Results[W['kind']]>;
  }

  async function commit(statement: Statement): Promise<Row[]> {
    const rows = await transactions.write(statement).catch((error) => {
      throw noteFailure(error);
    });
    noteSuccess();
    return rows;
  }

  function noteSuccess(): void {
    if (isFailing) observe({ kind: 'writes_recovered' });
    isFailing = false;
  }

  /** Gives what is told to who wanted to write. */
  function noteFailure(error: unknown): Error {
    const own = toWriteError(error);
    if (own instanceof PlantStoreError && !isFailing) {
      isFailing = true;
      observe({ kind: 'writes_failing', reason: (error as Error).message });
    }
    return own;
  }

  async function read<T>(query: () => Promise<T>): Promise<T> {
    if (transactions.waiting() > MAX_WAITING_READS) throw tooManyReads();
    return query().catch((error) => {
      throw toReadError(error);
    });
  }
}

function tooManyReads(): PlantStoreError {
  return unavailable('Too many reads are waiting: try again later');
}

const statsText = (tables: Tables) =>
  `SELECT (${lastSeq(tables)}) AS seq, pg_database_size(current_database()) AS bytes`;
const PRUNED_AT_ONCE = 10_000;
/** The oldest, up to the first that is not older than asked for, or that a webhook still has to be given. */
const pruneText = ({ changes, deliveries, numbering, webhooks }: Tables) => `
  WITH oldest AS (SELECT seq, time FROM ${changes} ORDER BY seq LIMIT ${PRUNED_AT_ONCE}),
  kept AS (SELECT min(seq) AS seq FROM oldest WHERE time >= $1),
  held AS (
    SELECT min(least(w.position, (
      SELECT min(d.seq) - 1 FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.status = 'waiting'
    ))) AS seq FROM ${webhooks} w WHERE w.disabled IS NULL
  ),
  old AS (
    SELECT seq FROM oldest
    WHERE seq < coalesce((SELECT seq FROM kept), 9223372036854775807)
      AND seq <= coalesce((SELECT seq FROM held), 9223372036854775807)
  ),
  forgotten AS (
    DELETE FROM ${deliveries} WHERE webhook_id IN (SELECT id FROM ${webhooks}) AND seq <= (SELECT max(seq) FROM old)
  ),
  pruned AS (DELETE FROM ${changes} WHERE seq <= (SELECT max(seq) FROM old) RETURNING seq),
  noted AS (UPDATE ${numbering} SET pruned_to = greatest(pruned_to, (SELECT max(seq) FROM old)))
  SELECT count(*) AS pruned FROM pruned`;
