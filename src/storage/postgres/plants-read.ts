// Reads plants. Reads with several statements use one consistent snapshot.

import { readCursor } from '../../domain/list-cursor.ts';
import { createPage, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { type ListQuery, MAX_ID, MIN_ID, type Page } from '../../domain/plant.ts';
import { createTimeSlices, nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { type PlantRow, toRecord } from '../row-mapping.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import { openSearch, type Search } from './search.ts';
import type { Query, Statement, Transactions } from './transaction.ts';

const COLUMNS = 'id, name, tag, created, updated, seq';

export type ListedRow = PlantRow & { id: bigint };
/** A row of a statement from `bounded`. */
export type BoundedRow = ListedRow & { is_cut: boolean };

export async function readPlants({ read, names: { tables } }: Transactions, ids: bigint[]): Promise<ListedRow[]> {
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE id = ANY ($1::bigint[])`;
  const [rows] = await read<[ListedRow]>({ text, values: [toArray(ids)] });
  return rows;
}

export async function listPlants(
  { read, readStepwise, names: { tables } }: Transactions,
  query: ListQuery,
): Promise<Page> {
  const { limit = DEFAULT_LIMIT, cursor, ...filter } = query;
  const start = cursor === undefined ? MIN_ID : readCursor(cursor, filter);
  const { add, page } = createPage(limit, filter);
  if (filter.tag?.includes('\0')) return page(false); // no plant has such a tag, and PostgreSQL rejects the character
  if (filter.tag === undefined && filter.q === undefined) {
    const [rows] = await read<[ListedRow]>(plantsFrom(tables, start, limit + 1));
    await nextEventLoopTurn(); // the caller serializes the page in the same turn
    for (const row of rows) if (!add(toRecord(row.id, row))) return page(true);
    return page(false);
  }
  const found = await readStepwise(async (query) => {
    const search = await openSearch(query, tables, filter);
    for (let from = start; ; from++) {
      const { rows, upTo } = search
        ? await nextPass(query, tables, search, from, limit + 1)
        : { rows: await query<ListedRow>(plantsFrom(tables, from, limit + 1)), upTo: undefined };
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

/** Returns candidates. If more may follow, `upTo` is the last id that was checked. */
async function nextPass(
  query: Query,
  tables: Tables,
  search: Search,
  from: bigint,
  atMost: number,
): Promise<{ rows: ListedRow[]; upTo: bigint | undefined }> {
  const { where, upTo } = await search.next(from, atMost);
  if (!where) return { rows: [], upTo };
  const text = `SELECT ${COLUMNS} FROM ${tables.plants} WHERE ${where.text}`;
  const rows = await query<BoundedRow>(bounded(text, 'id', where.values ?? []));
  const last = rows.at(-1);
  return { rows, upTo: last?.is_cut ? last.id : upTo };
}

export function plantsFrom(tables: Tables, from: bigint, limit: number): Statement {
  return bounded(`SELECT ${COLUMNS} FROM ${tables.plants} WHERE id >= $1 ORDER BY id LIMIT $2`, 'id', [from, limit]);
}

/** More bytes than a page and one record hold. A UTF-16 code unit takes at most three bytes. */
const MAX_BYTES = 3 * PAGE_CHARS + 256 * 1024;

/** Selects only the first rows, because rows beyond a page need not be sent. `is_cut` is true if rows were omitted. */
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
