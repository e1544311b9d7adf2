// Finds changes by their time with a binary search, because the times of changes follow their numbers.

import type { DatabaseSync } from 'node:sqlite';

/** Returns a function that finds the number of the first change since a time, or the number after the last change. */
export function prepareFirstSince(db: DatabaseSync, lastSeq: () => number): (sinceMs: number) => number {
  const firstFrom = db.prepare('SELECT time FROM changes WHERE seq >= ? ORDER BY seq LIMIT 1');
  return (sinceMs) =>
    bisect(0, lastSeq() + 1, (seq) => {
      const { time = Number.POSITIVE_INFINITY } = (firstFrom.get(seq) ?? {}) as { time?: number };
      return time >= sinceMs;
    });
}

/** Returns the first number from which `holds` is true, or `end` if it is never true. */
function bisect(begin: number, end: number, holds: (at: number) => boolean): number {
  let [low, high] = [begin, end];
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2); // their sum may be above 2^53
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
