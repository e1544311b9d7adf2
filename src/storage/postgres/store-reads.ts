// Implements the reads of plants. They share lookups by id, and searches use a part of the connections.

import { matchesAll } from '../../domain/list-cursor.ts';
import { fieldOf } from '../../domain/list-order.ts';
import type { Store } from '../../domain/store.ts';
import type { Turns } from '../../lib/semaphore.ts';
import { createDryRun } from '../dry-run.ts';
import { type PlantRowWithId, toRecord } from '../row-mapping.ts';
import { createSearchTurns } from '../search-turns.ts';
import { noPlant, toError } from '../write-rules.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import type { PreparedDatabase } from './database.ts';
import { comparePlants, countPlants, listPlants, readPlants } from './plants-read.ts';
import { type StoreQueries, tooManyReads } from './store-queries.ts';
import { readSummary } from './summary.ts';

interface PlantReadsOptions {
  queries: StoreQueries;
  url: string;
  database: PreparedDatabase;
  poolSize: number;
  statementTimeoutMs: number;
  /** Adds the keys by which names are sorted, where they are missing. */
  completeNames(): Promise<void>;
  clock(): number;
}

export function createPlantReads({
  queries: { read },
  url,
  database,
  poolSize,
  statementTimeoutMs,
  completeNames,
  clock,
}: PlantReadsOptions): Pick<Store, 'get' | 'list' | 'count' | 'openDryRun' | 'summary'> {
  const findPlant = createBatchedLookup<bigint, PlantRowWithId>(async (ids) => {
    const rows = await read((transactions) => readPlants(transactions, ids));
    return new Map(rows.map((row) => [row.id, row]));
  }, tooManyReads);
  const inTurn = createSearchTurns({
    maxConcurrent: Math.max(1, Math.floor(poolSize / 3)),
    waitMs: statementTimeoutMs,
  });
  return {
    async get(id) {
      const row = await findPlant(id);
      if (!row) throw toError(noPlant(id));
      return { record: toRecord(id, row), seq: Number(row.seq) };
    },
    async list(query = {}, requester = {}) {
      const isPlain = matchesAll(query);
      if (isPlain && fieldOf(query.sort ?? 'id') === 'name') await completeNames();
      return read((transactions) => {
        const list = (turns?: Turns) => listPlants(transactions, query, turns);
        return isPlain && !query.offset ? list() : inTurn(list, requester);
      });
    },
    count(filter = {}, requester = {}) {
      return read((transactions) => {
        const count = (turns?: Turns) => countPlants(transactions, filter, turns);
        return matchesAll(filter) ? count() : inTurn(count, requester);
      });
    },
    openDryRun() {
      return createDryRun((plants) => read((transactions) => comparePlants(transactions, plants)));
    },
    summary: () => read(() => readSummary(url, database, clock())),
  };
}
