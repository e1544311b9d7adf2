// Page sizes of lists and of the change log, the same for every database.

import { cursorAfter, type SortedFilter } from './list-cursor.ts';
import type { Page, PlantRecord } from './plant.ts';

export const DEFAULT_LIMIT = 100;
export const MAX_LIMIT = 1000;
/** Total text length that a read of the database returns: 1,000 records of 64 KiB would block all other requests. */
export const PAGE_CHARS = 512 * 1024;
/** Size of the text, as JSON, at which a page ends. */
export const PAGE_BYTES = 512 * 1024;
/** Length of a text that counts as if each character were an escape of six bytes: to print it first would cost more. */
const SHORT_CHARS = 40;

/** Collects a page, which can hold fewer than `limit` records when they are large. */
export function createPage(limit: number, query: SortedFilter) {
  const records: PlantRecord[] = [];
  let bytes = 0;
  return {
    /** Adds a record. Returns false, without adding it, if the page is already full. */
    add(record: PlantRecord): boolean {
      if (records.length === limit || bytes > PAGE_BYTES) return false;
      records.push(record);
      bytes += bytesOf(record.name) + bytesOf(record.tag);
      return true;
    },
    /** Returns the page. `more` is true if `add` returned false, and false at the end of all records. */
    page(more: boolean): Page {
      const last = records.at(-1);
      return more && last ? { records, next: cursorAfter(last, query) } : { records };
    },
  };
}

/** Returns the first rows up to the one whose text exceeds `maxChars` in total; always at least one row. */
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

/** Returns the total length of the name and the tag of a plant or patch. */
export function charsOf({ name, tag }: { name?: string | undefined; tag?: string | null | undefined }): number {
  return (name?.length ?? 0) + (tag?.length ?? 0);
}

/** Returns the size of a text as JSON, or an upper bound of it for a short text. A page of 1,000 short ones is never full. */
export function bytesOf(text: string | null | undefined): number {
  if (!text) return 0;
  return text.length <= SHORT_CHARS ? 6 * text.length : Buffer.byteLength(JSON.stringify(text));
}
