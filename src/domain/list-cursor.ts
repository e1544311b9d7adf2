// The opaque cursor of a list, which encodes the first id of the next page. A cursor is bound to its filter: with a
// different filter it would skip records.

import { hash } from 'node:crypto';
import { PlantStoreError } from './errors.ts';
import { queryWords } from './name-search.ts';

export interface Filter {
  /** Matches the whole tag exactly. */
  tag?: string | undefined;
  /** Search words. Each must be the beginning of a word in the name. */
  q?: string | undefined;
}

export function toCursor(fromId: bigint, filter: Filter): string {
  const bytes = Buffer.alloc(16, fingerprint(filter));
  bytes.writeBigInt64BE(fromId, 8);
  return bytes.toString('base64url');
}

/** Returns the first id of the page. Throws `bad_parameter` if the cursor is malformed or belongs to another filter. */
export function readCursor(cursor: string, filter: Filter): bigint {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) {
    throw new PlantStoreError('bad_parameter', '"cursor" is malformed. Use the cursor from a Link header.');
  }
  if (!bytes.subarray(0, 8).equals(fingerprint(filter))) {
    throw new PlantStoreError(
      'bad_parameter',
      '"cursor" belongs to another "tag" or "q". Start over without a cursor.',
    );
  }
  return bytes.readBigInt64BE(8);
}

function fingerprint({ tag, q }: Filter): Buffer {
  const text = JSON.stringify([tag ?? null, queryWords(q ?? '')]);
  return Buffer.from(hash('sha256', text, 'hex').slice(0, 16), 'hex');
}
