// Reads single plants, lists and counts, on a connection that cannot write.

import type { DatabaseSync } from 'node:sqlite';
import { type Filter, isWithoutWords, matchesAll, startAfter, startOf } from '../../domain/list-cursor.ts';
import { lastSkipped, startBehindMatches } from '../../domain/list-offset.ts';
import { MAX_COUNTED, type Place, placeOf } from '../../domain/list-order.ts';
import { createPage, DEFAULT_LIMIT } from '../../domain/page-size.ts';
import {
  type ListQuery,
  MAX_ID,
  MIN_ID,
  type NewPlant,
  type Page,
  type PlantCount,
  type PlantRecord,
  type Versioned,
} from '../../domain/plant.ts';
import { createSortedPage } from '../../domain/sorted-page.ts';
import { createPace, nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { type PlantRowWithId, toRecord } from '../row-mapping.ts';
import { noPlant, toError } from '../write-rules.ts';
import { preparePlantCount } from './change-numbers.ts';
import { preparePlantOrders } from './plant-orders.ts';
import { prepareFindTagged, prepareSearch } from './search.ts';
import { prepareSnapshots } from './snapshots.ts';

/** Limits on one pass of a search, in candidates and in time. Other searches run between two passes. */
const PASS_ROWS = 1001;
const PASS_MS = 20;
/**
 * Number of candidates per match above which the next pass looks for whole prefixes. Its first candidate takes long, so
 * it has MAX_ROWS.
 */
const SPARSE = 20;
const MAX_ROWS = 2 ** 31 - 1;

type PlantValues = [name: string, tag: string | null, created: number, updated: number, seq: number];

export function prepareReads(db: DatabaseSync) {
  const get = prepareGet(db);
  const comparePlant = db.prepare('SELECT name = ? AND tag IS ? AS same FROM plants WHERE id = ?');
  const atOnce = prepareSnapshots(db);
  const eachMatch = prepareEachMatch(db, atOnce);
  const orders = preparePlantOrders(db);
  const plantCount = preparePlantCount(db);
  const findTagged = prepareFindTagged(db);

  return {
    get,

    /** Returns for each plant whether the stored plant with its id is the same, or undefined if there is none. */
    async compare(plants: NewPlant[]): Promise<(boolean | undefined)[]> {
      const results: (boolean | undefined)[] = [];
      const pace = createPace();
      for (const { id, name, tag = null } of plants) {
        await pace();
        const row = comparePlant.get(name, tag, id) as { same: number } | undefined;
        results.push(row && row.same === 1);
      }
      return results;
    },

    /** `nextPass` is called before each pass of a search. */
    async list(query: ListQuery, nextPass = nextEventLoopTurn): Promise<Page> {
      const { limit = DEFAULT_LIMIT, cursor: _, offset, sort = 'id', ...filter } = query;
      let start = startOf(query);
      const { add, page } = createPage(limit, query);
      if (offset) start = await startBehind(query, nextPass);
      if (offset && !start) return page(false);
      if (matchesAll(filter)) {
        for (const row of orders(sort, start, limit + 1)) if (!add(toRecord(row.id, row))) return page(true);
        return page(false);
      }
      if (sort === 'id') return page(await eachMatch(filter, start?.id ?? MIN_ID, nextPass, add));
      const sorted = createSortedPage(query, start);
      await eachMatch(filter, MIN_ID, nextPass, (record) => {
        sorted.add(record);
        return true;
      });
      return sorted.page();
    },

    async count(filter: Filter, nextPass = nextEventLoopTurn): Promise<PlantCount> {
      if (matchesAll(filter)) return { plants: plantCount(), isMore: false };
      let plants = 0;
      const isMore = await eachMatch(filter, MIN_ID, nextPass, () => plants < MAX_COUNTED && ++plants > 0);
      return { plants, isMore };
    },
  };

  /** Returns the start of the page behind the first `offset` plants, or undefined if there are no more. */
  async function startBehind(
    { offset = 0, sort = 'id', ...filter }: ListQuery,
    nextPass: () => Promise<void>,
  ): Promise<Place | undefined> {
    if (matchesAll(filter)) {
      return atOnce(() => {
        const last = lastSkipped(offset, plantCount(), sort);
        const [row] = last ? orders(last.sort, undefined, 1, last.before) : [];
        return row && startAfter(placeOf(toRecord(row.id, row), sort), sort);
      });
    }
    if (sort === 'id' && isWithoutWords(filter)) return findTagged(filter, offset);
    return startBehindMatches(offset, sort, (visit) => eachMatch(filter, MIN_ID, nextPass, visit));
  }
}

function prepareGet(db: DatabaseSync): (id: bigint) => Versioned {
  const findPlant = db.prepare('SELECT name, tag, created, updated, seq FROM plants WHERE id = ?');
  findPlant.setReturnArrays(true); // an object would take twice the time
  return (id) => {
    const row = findPlant.get(id) as PlantValues | undefined;
    if (!row) throw toError(noPlant(id));
    const [name, tag, created, updated, seq] = row;
    return { record: toRecord(id, { name, tag, created, updated }), seq };
  };
}

/**
 * Returns a function that calls `visit` with each match by ascending id, until it returns false. It returns true if it did.
 * `nextPass` is called before each pass.
 */
function prepareEachMatch(db: DatabaseSync, atOnce: ReturnType<typeof prepareSnapshots>) {
  const searchPlants = db.prepare(`
    SELECT plants.* FROM words JOIN plants ON plants.id = words.rowid
    WHERE words MATCH ? AND words.rowid >= ? ORDER BY words.rowid LIMIT ?`);
  searchPlants.setReadBigInts(true);
  const toSearch = prepareSearch(db);

  return async (
    filter: Filter,
    start: bigint,
    nextPass: () => Promise<void>,
    visit: (record: PlantRecord) => boolean,
  ): Promise<boolean> => {
    let from = start;
    let isSparse = false;
    for (;;) {
      await nextPass();
      const seen = atOnce(() => {
        const search = toSearch(filter, isSparse);
        if (!search) return 'end';
        const limit = isSparse ? MAX_ROWS : PASS_ROWS;
        let [count, matches] = [0, 0];
        let endMs: number | undefined;
        for (const row of searchPlants.iterate(search.expression, from, limit) as Iterable<PlantRowWithId>) {
          endMs ??= performance.now() + PASS_MS; // from the first row on: another pass would take as long to find it
          const record = toRecord(row.id, row);
          if (search.isWanted(record) && ++matches && !visit(record)) return 'full';
          from = row.id;
          isSparse = ++count > SPARSE * matches;
          if (performance.now() > endMs) return 'more';
        }
        return count < limit ? 'end' : 'more';
      });
      if (seen === 'full') return true;
      if (seen === 'end' || from === MAX_ID) return false;
      from++;
    }
  };
}
