// Every read there is. What takes several statements is of one moment.

import { type Change, type ChangeQuery, changesPruned } from '../../domain/change.ts';
import { readCursor } from '../../domain/list-cursor.ts';
import { createPage, cutToChars, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { type ListQuery, MAX_ID, MIN_ID, type Page } from '../../domain/plant.ts';
import { createTimeSlices, nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { type ChangeRow, type PlantRow, toChange, toRecord } from '../row-mapping.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import { openSearch, type Search } from './search.ts';
import type { Query, Statement, Transactions } from './transaction.ts';

const COLUMNS = 'id, name, tag, created, updated, seq';

export type ListedRow = PlantRow & { id: bigint };

export function lastSeq(tables: Tables): string {
  return `
    SELECT greatest(
      pruned_to,
      (SELECT max(seq) FROM ${tables.changes}),
      (SELECT max(last) FROM ${tables.skipped})
    ) AS seq FROM ${tables.numbering}`;
}

export async function readPlants({ read, names: { tables } }: Transactions, ids: bigint[]): Promise<ListedRow[]> {
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE id = ANY ($1::bigint[])`;
  const [rows] = await read({ text, values: [toArray(ids)] });
  return rows as unknown as ListedRow[];
}

export async function listPlants(
  { read, readStepwise, names: { tables } }: Transactions,
  query: ListQuery,
): Promise<Page> {
  const { limit = DEFAULT_LIMIT, cursor, ...filter } = query;
  const start = cursor === undefined ? MIN_ID : readCursor(cursor, filter);
  const { add, page } = createPage(limit, filter);
  if (filter.tag?.includes('\0')) return page(false); // nothing can have it, and PostgreSQL cannot be asked for it
  if (filter.tag === undefined && filter.q === undefined) {
    const [rows = []] = await read(plantsFrom(tables, start, limit + 1));
    await nextEventLoopTurn(); // also for what prints the page
    for (const row of rows as unknown as ListedRow[]) if (!add(toRecord(row.id, row))) return page(true);
    return page(false);
  }
  const found = await readStepwise(async (query) => {
    const search = await openSearch(query, tables, filter);
    for (let from = start; ; from++) {
      const { rows, upTo } = search
        ? await nextPass(query, tables, search, from, limit + 1)
        : { rows: (await query(plantsFrom(tables, from, limit + 1))) as unknown as ListedRow[], upTo: undefined };
      const slices = createTimeSlices();
      for (const row of rows) {
        if (slices.isOver()) await slices.next();
        const record = toRecord(row.id, row);
        if ((search?.isWanted(record) ?? true) && !add(record)) return page(true);
      }
      if (upTo === undefined || upTo === MAX_ID) return page(false);
      from = upTo;
    }
  });
  await nextEventLoopTurn();
  return found;
}

/** `upTo` is the last id that was looked at, if there are more. */
async function nextPass(
  query: Query,
  tables: Tables,
  search: Search,
  from: bigint,
  atMost: number,
): Promise<{ rows: ListedRow[]; upTo: bigint | undefined }> {
  const { where, upTo } = await search.next(from, atMost);
  if (!where) return { rows: [], upTo };
  const rows = await query(
    bounded(`SELECT ${COLUMNS} FROM ${tables.plants} WHERE ${where.text}`, 'id', where.values ?? []),
  );
  const last = rows.at(-1);
  return { rows: rows as unknown as ListedRow[], upTo: last?.is_cut ? (last.id as bigint) : upTo };
}

export async function readChanges(
  { read, names: { tables } }: Transactions,
  { after, limit = DEFAULT_LIMIT, maxChars = PAGE_CHARS }: ChangeQuery,
): Promise<Change[]> {
  const gone = {
    text: `
      SELECT $1 < pruned_to OR $1 > (${lastSeq(tables)})
        OR EXISTS (SELECT FROM ${tables.skipped} WHERE $1 >= first AND $1 < last) AS gone FROM ${tables.numbering}`,
    values: [after ?? 0],
  };
  const text = `SELECT * FROM ${tables.changes} WHERE seq > $1 ORDER BY seq LIMIT $2`;
  const [[isGone] = [], rows = []] = await read(gone, bounded(text, 'seq', [after ?? 0, limit]));
  if (after !== undefined && isGone?.gone) throw changesPruned(after);
  await nextEventLoopTurn(); // also for what prints the page
  return cutToChars(rows as unknown as ChangeRow[], maxChars).map(toChange);
}

export function plantsFrom(tables: Tables, from: bigint, limit: number): Statement {
  return bounded(`SELECT ${COLUMNS} FROM ${tables.plants} WHERE id >= $1 ORDER BY id LIMIT $2`, 'id', [from, limit]);
}

/** More than fits into a page, in bytes: a character of ours is three at most. And one record more. */
const MAX_BYTES = 3 * PAGE_CHARS + 256 * 1024;

/** The first of these rows: what does not fit into a page is not sent either. `is_cut` tells if there are others. */
export function bounded(text: string, key: 'id' | 'seq', values: unknown[]): Statement {
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
