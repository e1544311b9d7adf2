// Finds the page that an offset asks for. It starts where the page of a cursor would start: after the last plant that
// the offset skips.

import { startAfter } from './list-cursor.ts';
import { comparePlaces, isDescending, MAX_SORTED, type Place, placeOf, reverseOf, type Sort } from './list-order.ts';
import type { PlantRecord } from './plant.ts';
import { tooManyToSort } from './sorted-page.ts';

/**
 * Returns where to find the last plant that an offset skips in a list of `total` plants: `before` plants come before it
 * in the order `sort`, which starts at the nearer end. Returns undefined if the offset skips all plants.
 */
export function lastSkipped(offset: number, total: number, sort: Sort): { sort: Sort; before: number } | undefined {
  if (offset >= total) return undefined;
  return offset <= total / 2 ? { sort, before: offset - 1 } : { sort: reverseOf(sort), before: total - offset };
}

/**
 * Returns the start of the page behind the first `offset` matches of a filter, or undefined if no more match.
 * `eachMatch` calls its argument with each match by ascending id, until it returns false.
 */
export async function startBehindMatches(
  offset: number,
  sort: Sort,
  eachMatch: (visit: (record: PlantRecord) => boolean) => Promise<unknown>,
): Promise<Place | undefined> {
  if (sort === 'id') {
    let skipped = 0;
    let start: Place | undefined;
    await eachMatch((record) => {
      if (skipped++ < offset) return true;
      start = placeOf(record, sort);
      return false;
    });
    return start;
  }
  const places: Place[] = [];
  await eachMatch((record) => {
    if (places.push(placeOf(record, sort)) > MAX_SORTED) throw tooManyToSort();
    return true;
  });
  if (offset >= places.length) return undefined;
  places.sort((a, b) => (isDescending(sort) ? comparePlaces(b, a) : comparePlaces(a, b)));
  return startAfter(places[offset - 1] as Place, sort);
}
