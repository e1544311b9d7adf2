// How much goes into one page, of a list or of the change log: the same whatever database it comes from.

import { type Filter, toCursor } from './list-cursor.ts';
import type { Page, PlantRecord } from './plant.ts';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;
/** Of the texts in a page: 1,000 records of 64 KiB would hold up everybody else. */
export const PAGE_CHARS = 512 * 1024;

/** Shorter than asked for where the records are long. */
export function createPage(limit: number, filter: Filter) {
  const records: PlantRecord[] = [];
  let chars = 0;
  return {
    /** Returns false if the page was full before: the record is not in it. */
    add(record: PlantRecord): boolean {
      if (records.length === limit || chars > PAGE_CHARS) return false;
      records.push(record);
      chars += charsOf(record);
      return true;
    },
    /** Call after `add` returned false, which is `more`, or at the end of all records. */
    page(more: boolean): Page {
      const last = records.at(-1);
      return more && last ? { records, next: toCursor(last.id + 1n, filter) } : { records };
    },
  };
}

/** As many of the first as fit; one fits always. */
export function cutToChars<T extends { name: string; tag: string | null }>(rows: Iterable<T>, maxChars: number): T[] {
  const kept: T[] = [];
  let chars = 0;
  for (const row of rows) {
    kept.push(row);
    chars += charsOf(row);
    if (chars > maxChars) break;
  }
  return kept;
}

/** Number of characters in the texts of a plant or of a patch. */
export function charsOf({ name, tag }: { name?: string | undefined; tag?: string | null | undefined }): number {
  return (name?.length ?? 0) + (tag?.length ?? 0);
}
