// Where the next page of a list begins, as text that only we can read. It belongs to its filter: under another
// one it would skip records.

import { hash } from 'node:crypto';
import { PlantStoreError } from './errors.ts';
import { queryWords } from './name-search.ts';

export interface Filter {
  /** Exact. */
  tag?: string | undefined;
  /** Words, each of which begins a word of the name. */
  q?: string | undefined;
}

export function toCursor(fromId: bigint, filter: Filter): string {
  const bytes = Buffer.alloc(16, fingerprint(filter));
  bytes.writeBigInt64BE(fromId, 8);
  return bytes.toString('base64url');
}

/** Gives the id that the page begins with. Throws `bad_parameter`. */
export function readCursor(cursor: string, filter: Filter): bigint {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) {
    throw new PlantStoreError('bad_parameter', '"cursor" is not one that a Link header gave');
  }
  if (!bytes.subarray(0, 8).equals(fingerprint(filter))) {
    throw new PlantStoreError('bad_parameter', '"cursor" belongs to another "tag" or "q": begin without a cursor');
  }
  return bytes.readBigInt64BE(8);
}

function fingerprint({ tag, q }: Filter): Buffer {
  const text = JSON.stringify([tag ?? null, queryWords(q ?? '')]);
  return Buffer.from(hash('sha256', text, 'hex').slice(0, 16), 'hex');
}
