// The rules for pages of the change log that both databases share.

import type { Change, ChangePageQuery } from '../domain/change.ts';
import { bytesOf, PAGE_BYTES } from '../domain/page-size.ts';
import { type ChangeRow, toChange } from './row-mapping.ts';

/** Maximum number of changes that a page scans. */
export const SCANNED_AT_ONCE = 5000;

/** True if the change has the properties that the query asks for. */
export function isWanted(
  { type, time, token_id }: Pick<ChangeRow, 'type' | 'time' | 'token_id'>,
  query: ChangePageQuery,
): boolean {
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = query;
  if (query.type !== undefined && type !== query.type) return false;
  return (query.token === undefined || token_id === query.token) && time >= sinceMs && time <= untilMs;
}

/**
 * Collects a page of changes, which can hold fewer than `limit` changes when they are large. `nameOf` returns the name
 * of a token, or null if the store does not have the token.
 */
export function createChangePage(limit: number, nameOf: (tokenId: string) => string | null) {
  const changes: Change[] = [];
  let bytes = 0;
  return {
    changes,
    /** Adds a change. Returns false, without adding it, if the page is already full. */
    add(row: ChangeRow): boolean {
      if (changes.length === limit || bytes > PAGE_BYTES) return false;
      const tokenName = nameOf(row.token_id);
      changes.push(tokenName === null ? toChange(row) : { ...toChange(row), tokenName });
      bytes += bytesOf(row.name) + bytesOf(row.tag);
      return true;
    },
  };
}
