// The opaque cursor of a list, which encodes the place where the next page starts. A cursor is bound to its filter and
// sort: with others it would skip records.

import { hash } from 'node:crypto';
import { PlantStoreError } from './errors.ts';
import { fieldOf, isDescending, type Place, placeOf, type Sort } from './list-order.ts';
import { queryWords } from './name-search.ts';
import type { TokenPlace } from './token.ts';

export interface Filter {
  /** Matches the whole tag exactly. Several tags match plants with any of them. */
  tag?: string | readonly string[] | undefined;
  /** Also matches plants without a tag. Without `tag`, matches only those. */
  untagged?: boolean | undefined;
  /** Search words. Each must be the beginning of a word in the name. */
  q?: string | undefined;
}

export type SortedFilter = Filter & { sort?: Sort | undefined };

/** Returns the different tags of a filter in a fixed order. */
export function tagsOf({ tag }: Filter): string[] {
  return tag === undefined ? [] : [...new Set([tag].flat() as string[])].sort();
}

/** True if the filter matches every plant. */
export function matchesAll(filter: Filter): boolean {
  return tagsOf(filter).length === 0 && !filter.untagged && isWithoutWords(filter);
}

/** True if the filter has no search words. */
export function isWithoutWords({ q = '' }: Filter): boolean {
  return q.trim() === '';
}

/** Returns a function that is true for a plant with a tag that the filter matches. */
export function createTagTest(filter: Filter): (plant: { tag?: string | undefined }) => boolean {
  const { untagged = false } = filter;
  const tags = new Set(tagsOf(filter));
  if (tags.size === 0 && !untagged) return () => true;
  return ({ tag }) => (tag === undefined ? untagged : tags.has(tag));
}

const ID_BYTES = 16;

/** Returns the cursor of the page after `last`. */
export function cursorAfter(last: Parameters<typeof placeOf>[0], query: SortedFilter): string {
  return toCursor(startAfter(placeOf(last, query.sort ?? 'id'), query.sort), query);
}

/**
 * Returns the place in the cursor of the page after `last`. For a sort by id, it is the first place of the page;
 * otherwise, the page starts after it.
 */
export function startAfter({ key, id }: Place, sort: Sort = 'id'): Place {
  if (fieldOf(sort) !== 'id') return { key, id };
  return { key, id: isDescending(sort) ? id - 1n : id + 1n };
}

/** Returns a cursor. `start` is a place from `startAfter`. */
export function toCursor({ key, id }: Place, query: SortedFilter): string {
  const bytes = Buffer.alloc(ID_BYTES, fingerprint(query));
  bytes.writeBigInt64BE(id, 8);
  const keyBytes = fieldOf(query.sort ?? 'id') === 'id' ? [] : [Buffer.from(String(key))];
  return Buffer.concat([bytes, ...keyBytes]).toString('base64url');
}

/** Returns the place in the cursor of a query, if it has one. Throws `bad_parameter` if it also has an offset. */
export function startOf(
  query: SortedFilter & { cursor?: string | undefined; offset?: number | undefined },
): Place | undefined {
  const { cursor, offset } = query;
  if (cursor === undefined) return undefined;
  if (offset === undefined) return readCursor(cursor, query);
  throw new PlantStoreError(
    'bad_parameter',
    '"offset" and "cursor" exclude each other. Send "offset" for the first page, and only the cursor for the pages after it.',
  );
}

/** Returns the place in the cursor. Throws `bad_parameter` if it is malformed or belongs to another filter or sort. */
function readCursor(cursor: string, query: SortedFilter): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const field = fieldOf(query.sort ?? 'id');
  if (bytes.length < ID_BYTES || bytes.toString('base64url') !== cursor) throw malformedCursor();
  if (!bytes.subarray(0, 8).equals(fingerprint(query))) {
    throw new PlantStoreError(
      'bad_parameter',
      '"cursor" belongs to another "tag", "untagged", "q" or "sort". Start over without a cursor.',
    );
  }
  const keyBytes = bytes.subarray(ID_BYTES);
  const key = keyBytes.toString();
  const isWhole = Buffer.from(key).equals(keyBytes) && !key.includes('\0');
  const isSound = field === 'name' ? isWhole : field === 'id' ? key === '' : /^-?\d{1,16}$/.test(key);
  if (!isSound) throw malformedCursor();
  return { key: field === 'name' ? key : Number(key), id: bytes.readBigInt64BE(8) };
}

/** Returns the cursor of a page of a plant's history, which starts with change `seq`. */
export function toHistoryCursor(plantId: bigint, seq: number): string {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.writeBigInt64BE(plantId);
  bytes.writeBigInt64BE(BigInt(seq), 8);
  return bytes.toString('base64url');
}

/** Returns the first change of the page. Throws `bad_parameter` if the cursor belongs to another plant. */
export function readHistoryCursor(cursor: string, plantId: bigint): number {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== ID_BYTES || bytes.toString('base64url') !== cursor) throw malformedCursor();
  const seq = Number(bytes.readBigInt64BE(8));
  if (!Number.isSafeInteger(seq) || seq < 1) throw malformedCursor();
  if (bytes.readBigInt64BE() === plantId) return seq;
  throw new PlantStoreError('bad_parameter', '"cursor" belongs to another plant. Start over without a cursor.');
}

/** Returns the cursor of the page of tokens after this one. */
export function toTokenCursor({ createdMs, id }: TokenPlace): string {
  return Buffer.from(`${createdMs} ${id}`).toString('base64url');
}

/** Returns the token before the page. Throws `bad_parameter` if the cursor is malformed. */
export function readTokenCursor(cursor: string): TokenPlace {
  const [, created, id] = /^(\d{1,16}) ([!-~]+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const place = { createdMs: Number(created), id: id ?? '' };
  if (toTokenCursor(place) !== cursor) throw malformedCursor();
  return place;
}

function malformedCursor(): PlantStoreError {
  return new PlantStoreError('bad_parameter', '"cursor" is malformed. Use the cursor from a Link header.');
}

/** A filter that version 1.0 knew has the same fingerprint as then, so that a walk survives an upgrade. */
function fingerprint(query: SortedFilter): Buffer {
  const { untagged = false, q = '', sort = 'id' } = query;
  const tags = tagsOf(query);
  const wanted = tags.length > 1 || untagged ? { tags, untagged } : (tags[0] ?? null);
  const text = JSON.stringify([wanted, queryWords(q), ...(sort === 'id' ? [] : [sort])]);
  return Buffer.from(hash('sha256', text, 'hex').slice(0, 16), 'hex');
}
