// The loaded pages of a list, by page number. It keeps those near the visible rows, so that a walk through a million
// plants needs little memory. Live changes alter loaded rows in place; only a reload moves rows.

import type { Change, Page, PlantCount, PlantRecord } from 'plant-store/client';

export const PAGE_ROWS = 100;
/** Number of pages that are kept. */
const MAX_PAGES = 30;

export interface LoadedPage {
  records: PlantRecord[];
  next: string | undefined;
}

export interface PlantPages {
  pages: ReadonlyMap<number, LoadedPage>;
  /** Number of rows of the list. */
  rows: number;
  /** True if the filter matches more plants than the server counts. */
  isMore: boolean;
}

export const NO_PAGES: PlantPages = { pages: new Map(), rows: 0, isMore: false };

/** Adds a page, and drops the pages that are farthest from it. */
export function withPage(
  list: PlantPages,
  page: number,
  { records, next, total }: Page & { total?: PlantCount },
): PlantPages {
  const pages = new Map(list.pages).set(page, { records, next });
  const farthest = [...pages.keys()].sort((a, b) => Math.abs(b - page) - Math.abs(a - page));
  for (const other of farthest.slice(0, Math.max(0, pages.size - MAX_PAGES))) pages.delete(other);
  const end = page * PAGE_ROWS + records.length;
  const counted = total?.plants ?? list.rows;
  // The page itself tells where the list ends, if plants have come or gone since they were counted.
  const rows = records.length === 0 ? Math.min(counted, end) : next === undefined ? end : Math.max(counted, end + 1);
  return { pages, rows, isMore: (total?.isMore ?? list.isMore) && next !== undefined };
}

export function recordAt({ pages }: PlantPages, row: number): PlantRecord | undefined {
  return pages.get(Math.floor(row / PAGE_ROWS))?.records[row % PAGE_ROWS];
}

/** Returns the row of the plant, if it is loaded. */
export function rowOf({ pages }: PlantPages, id: bigint): number | undefined {
  for (const [page, { records }] of pages) {
    const index = records.findIndex((record) => record.id === id);
    if (index >= 0) return page * PAGE_ROWS + index;
  }
  return undefined;
}

/** Applies changes to the loaded rows. Rows of deleted plants stay until the list is loaded again. */
export function withChanges(list: PlantPages, changes: Change[]): PlantPages {
  const latest = new Map(changes.filter(({ type }) => type !== 'plant.deleted').map((one) => [one.plant.id, one]));
  if (latest.size === 0) return list;
  let isChanged = false;
  const pages = new Map(list.pages);
  for (const [page, { records, next }] of list.pages) {
    if (!records.some(({ id }) => latest.has(id))) continue;
    isChanged = true;
    pages.set(page, { records: records.map((record) => withChange(record, latest.get(record.id))), next });
  }
  return isChanged ? { ...list, pages } : list;
}

function withChange(record: PlantRecord, change: Change | undefined): PlantRecord {
  if (!change || change.time < record.updated) return record;
  const { name, tag } = change.plant;
  return { id: record.id, name, ...(tag !== undefined && { tag }), created: record.created, updated: change.time };
}
