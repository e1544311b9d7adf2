// Finds changes by their time with a binary search, because the times of changes follow their numbers.

import type { DatabaseSync } from 'node:sqlite';

/** Returns a function that finds the number of the first change since a time, or the number after the last change. */
export function prepareFirstSince(db: DatabaseSync): (sinceMs: number) => number {
  const firstSeq = db.prepare('SELECT seq FROM changes ORDER BY seq LIMIT 1');
  const lastSeq = db.prepare('SELECT seq FROM changes ORDER BY seq DESC LIMIT 1');
  const firstFrom = db.prepare('SELECT time FROM changes WHERE seq >= ? ORDER BY seq LIMIT 1');
  return (sinceMs) => {
    // PostgreSQL starts with the same bounds, so that both find the same change even if the clock was set back.
    const [first, last] = [firstSeq, lastSeq].map((one) => (one.get() as { seq: number } | undefined)?.seq);
    if (first === undefined || last === undefined) return 0;
    return bisect(first, last + 1, (seq) => (firstFrom.get(seq) as { time: number }).time >= sinceMs);
  };
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
