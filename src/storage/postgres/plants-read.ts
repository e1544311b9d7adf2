// Reads plants, lists and counts. Reads with several statements use one consistent snapshot.

import { type Filter, isWithoutWords, matchesAll, startAfter, startOf } from '../../domain/list-cursor.ts';
import { lastSkipped, startBehindMatches } from '../../domain/list-offset.ts';
import { fieldOf, isDescending, MAX_COUNTED, type Place, placeOf, type Sort } from '../../domain/list-order.ts';
import { createPage, DEFAULT_LIMIT, MAX_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import {
  type ListQuery,
  MAX_ID,
  MIN_ID,
  type NewPlant,
  type Page,
  type PlantCount,
  type PlantRecord,
} from '../../domain/plant.ts';
import { createSortedPage } from '../../domain/sorted-page.ts';
import { createPace, nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { Turns } from '../../lib/semaphore.ts';
import { type PlantRowWithId, toRecord } from '../row-mapping.ts';
import { NAME_KEY } from './name-keys.ts';
import { findIdByName } from './name-offset.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import { openSearch, type Search, tagKeysOf } from './search.ts';
import type { Statement } from './statement.ts';
import type { Query, Transactions } from './transaction.ts';

const COLUMNS = 'id, name, tag, created, updated, seq';

/** The turns of a read that has none. */
const ALONE: Turns = { isOver: () => false, next: nextEventLoopTurn };

/** A row of a statement from `bounded`. */
export type BoundedRow = PlantRowWithId & { is_cut: boolean };

export async function readPlants({ read, names: { tables } }: Transactions, ids: bigint[]): Promise<PlantRowWithId[]> {
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE id = ANY ($1::bigint[])`;
  const [rows] = await read<[PlantRowWithId]>({ text, values: [toArray(ids)] });
  return rows;
}

/** Returns the statement that reads plants and locks them until the transaction ends, in the order of their ids. */
export function plantsToLock(tables: Tables, ids: bigint[]): Statement {
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`;
  return { text, values: [toArray(ids)] };
}

/** Returns for each plant whether the stored plant with its id is the same, or undefined if there is none. */
export async function comparePlants(
  { read, names: { tables } }: Transactions,
  plants: NewPlant[],
): Promise<(boolean | undefined)[]> {
  const text = `
    SELECT sent.n, stored.same
    FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS sent (id, name, tag, n)
    CROSS JOIN LATERAL (
      SELECT p.name = sent.name AND p.tag IS NOT DISTINCT FROM sent.tag AS same FROM ${tables.plants} p
      WHERE p.id = sent.id LIMIT 1 -- makes PostgreSQL look up each id, not read the whole table
    ) AS stored`;
  const values = [
    toArray(plants.map(({ id }) => id)),
    toArray(plants.map(({ name }) => name)),
    toArray(plants.map(({ tag }) => tag ?? null)),
  ];
  const [rows] = await read<[{ n: bigint; same: boolean }]>({ text, values });
  const results: (boolean | undefined)[] = plants.map(() => undefined);
  for (const { n, same } of rows) results[Number(n) - 1] = same;
  return results;
}

export async function listPlants(transactions: Transactions, query: ListQuery, turns = ALONE): Promise<Page> {
  const { limit = DEFAULT_LIMIT, cursor: _, offset, sort = 'id', ...filter } = query;
  const { read, names } = transactions;
  let start = startOf(query);
  const { add, page } = createPage(limit, query);
  if (offset) start = await startBehind(transactions, query, turns);
  if (offset && !start) return page(false);
  if (matchesAll(filter)) {
    const [rows] = await read<[PlantRowWithId]>(plantsInOrder(names.tables, sort, start, limit + 1));
    for (const row of rows) if (!add(toRecord(row.id, row))) return page(true);
    return page(false);
  }
  if (sort === 'id') {
    const range = { from: start?.id ?? MIN_ID, atMost: limit + 1 };
    const isMore = await eachMatch(transactions, filter, range, turns, add);
    return page(isMore);
  }
  const sorted = createSortedPage(query, start);
  await eachMatch(transactions, filter, WHOLE_STORE, turns, (record) => {
    sorted.add(record);
    return true;
  });
  return sorted.page();
}

export async function countPlants(transactions: Transactions, filter: Filter, turns = ALONE): Promise<PlantCount> {
  if (matchesAll(filter)) {
    const [[row]] = await transactions.read<[{ plants: bigint }]>(plantCount(transactions.names.tables));
    return { plants: Number(row?.plants), isMore: false };
  }
  let plants = 0;
  const isMore = await eachMatch(transactions, filter, WHOLE_STORE, turns, () => {
    return plants < MAX_COUNTED && ++plants > 0;
  });
  return { plants, isMore };
}

function plantCount({ changes, numbering }: Tables): Statement {
  return {
    text: `
      SELECT coalesce((SELECT plant_count FROM ${changes} ORDER BY seq DESC LIMIT 1), plant_count) AS plants FROM ${numbering}`,
  };
}

/** Returns the start of the page behind the first `offset` plants, or undefined if there are no more. */
function startBehind(
  transactions: Transactions,
  { offset = 0, sort = 'id', ...filter }: ListQuery,
  turns: Turns,
): Promise<Place | undefined> {
  const { tables } = transactions.names;
  if (matchesAll(filter)) {
    return transactions.readStepwise(async (query) => {
      const [count] = await query<{ plants: bigint }>(plantCount(tables));
      const total = Number(count?.plants);
      const last = lastSkipped(offset, total, sort);
      if (!last) return undefined;
      const isByName = fieldOf(sort) === 'name';
      const id = await (isByName ? findIdByName(query, tables, { ...last, total }) : findId(query, tables, last));
      const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE id = $1`;
      const [row] = await query<PlantRowWithId>({ text, values: [id] });
      return row && startAfter(placeOf(toRecord(row.id, row), sort), sort);
    });
  }
  if (sort === 'id' && isWithoutWords(filter)) return startBehindTagged(transactions, offset, filter);
  return startBehindMatches(offset, sort, (visit) => eachMatch(transactions, filter, WHOLE_STORE, turns, visit));
}

/**
 * Returns the start of a page by id behind the first `offset` plants with the tags of a filter. It reads only the index
 * `words`, in which a tag is 56 bits of its hash.
 */
async function startBehindTagged(
  { read, names: { tables } }: Transactions,
  offset: number,
  filter: Filter,
): Promise<Place | undefined> {
  const keys = tagKeysOf(filter);
  const where = keys.length === 1 ? 'word = $1' : 'word = ANY ($1::bigint[])'; // a single word needs no sort
  const [[row]] = await read<[{ id: bigint }]>({
    text: `SELECT id FROM ${tables.words} WHERE ${where} ORDER BY id OFFSET $2 LIMIT 1`,
    values: [keys.length === 1 ? keys[0] : toArray(keys), offset],
  });
  return row && { key: 0, id: row.id };
}

/** Part of the store that a search reads. */
interface Range {
  from: bigint;
  /** Number of matches that are probably needed. */
  atMost: number;
}

const WHOLE_STORE: Range = { from: MIN_ID, atMost: MAX_LIMIT };

/**
 * Calls `visit` with each match by ascending id until it returns false. Returns true if it did. When its turn is over, it
 * ends its transaction after a pass, so that another search can use the connection.
 */
async function eachMatch(
  { readStepwise, names: { tables } }: Transactions,
  filter: Filter,
  range: Range,
  turns: Turns,
  visit: (record: PlantRecord) => boolean,
): Promise<boolean> {
  let { from } = range;
  let pass = 0;
  for (;;) {
    await turns.next();
    const seen = await readStepwise(async (query) => {
      const search = await openSearch(query, tables, filter);
      if (!search) return 'end';
      do {
        const { rows, upTo } = await nextPass(query, tables, search, { ...range, from, pass: pass++ });
        const pace = createPace();
        for (const row of rows) {
          await pace();
          const record = toRecord(row.id, row);
          if (search.isWanted(record) && !visit(record)) return 'full';
        }
        if (upTo === undefined || upTo === MAX_ID) return 'end';
        from = upTo + 1n;
      } while (!turns.isOver());
      return 'more';
    });
    if (seen !== 'more') return seen === 'full';
  }
}

/** Returns candidates. If more may follow, `upTo` is the last id that was checked. */
async function nextPass(
  query: Query,
  tables: Tables,
  search: Search,
  { from, atMost, pass }: Range & { pass: number },
): Promise<{ rows: PlantRowWithId[]; upTo: bigint | undefined }> {
  const { where, upTo } = await search.next(from, atMost, pass);
  if (!where) return { rows: [], upTo };
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE ${where.text}`;
  const rows = await query<BoundedRow>(bounded(text, 'id', where.values ?? []));
  const last = rows.at(-1);
  return { rows, upTo: last?.is_cut ? last.id : upTo };
}

/** Columns of each order, which an index has. */
const ORDERS = { id: ['id'], name: [NAME_KEY, 'id'], updated: ['updated', 'id'] };

/** Returns the id of the plant that has `before` others before it in the order `sort`, from the index alone. */
async function findId(
  query: Query,
  { plants }: Tables,
  { sort, before }: { sort: Sort; before: number },
): Promise<bigint | undefined> {
  const text = `SELECT id FROM ${plants} ORDER BY ${orderOf(sort)} OFFSET $1 LIMIT 1`;
  const [found] = await query<{ id: bigint }>({ text, values: [before] });
  return found?.id;
}

function orderOf(sort: Sort): string {
  const order = isDescending(sort) ? 'DESC' : 'ASC';
  return ORDERS[fieldOf(sort)].map((column) => `${column} ${order}`).join(', ');
}

/** Selects all plants in the order of a sort. `start` is the place in a cursor. */
function plantsInOrder({ plants }: Tables, sort: Sort, start: Place | undefined, limit: number): Statement {
  const field = fieldOf(sort);
  const after = isDescending(sort) ? '<' : '>';
  const columns = ORDERS[field];
  const orderBy = orderOf(sort);
  const where = !start ? '' : field === 'id' ? `WHERE id ${after}= $2` : `WHERE (${columns}) ${after} ($2, $3)`;
  const values = !start ? [] : field === 'id' ? [start.id] : [start.key, start.id];
  return bounded(
    `SELECT ${COLUMNS}, row_number() OVER (ORDER BY ${orderBy}) AS place FROM ${plants} ${where} ORDER BY ${orderBy} LIMIT $1`,
    'place',
    [limit, ...values],
  );
}

export function plantsFrom(tables: Tables, from: bigint, limit: number): Statement {
  return bounded(`SELECT ${COLUMNS} FROM ${tables.plants} WHERE id >= $1 ORDER BY id LIMIT $2`, 'id', [from, limit]);
}

/** More bytes than a page and one record hold. A UTF-16 code unit takes at most three bytes. */
const MAX_BYTES = 3 * PAGE_CHARS + 256 * 1024;

/**
 * Selects only the first rows in the order of `key`, because rows beyond a page need not be sent. `is_cut` is true if
 * rows were omitted.
 */
export function bounded(text: string, key: 'id' | 'seq' | 'seq DESC' | 'place', values: unknown[]): Statement {
  const bytes = 'octet_length(name) + coalesce(octet_length(tag), 0)';
  return {
    text: `
      SELECT * FROM (
        SELECT *, sum(${bytes}) OVER ahead - (${bytes}) AS bytes_before, sum(${bytes}) OVER () > ${MAX_BYTES} AS is_cut
        FROM (${text}) AS asked WINDOW ahead AS (ORDER BY ${key})
      ) AS summed
      WHERE bytes_before <= ${MAX_BYTES} ORDER BY ${key}`,
    values,
  };
}
