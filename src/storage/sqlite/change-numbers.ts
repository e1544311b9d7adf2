// Computes the number of the last change and the number of plants, even if that change was pruned. Skips numbers in a
// copy of the store.

import { randomInt } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

const LAST_SEQ = `
  SELECT max(
    pruned_to,
    coalesce((SELECT max(seq) FROM changes), 0),
    coalesce((SELECT max(last) FROM skipped), 0)
  ) AS seq FROM numbering`;

/**
 * A restore skips a billion numbers, far more than a store can write after a backup. It also skips a random count of up
 * to 1/64 of the numbers left below 2^53 (at first 2^47), so that two restores of one backup use different numbers. If
 * both write a million changes, the probability of a shared number is 2 * 10^6 / 2^47, or 1 in 70 million.
 * A chain of 900 restores stays below 2^53. PostgreSQL skips up to 1/1024, because failovers skip numbers, too.
 */
const SKIPPED_AT_LEAST = 1_000_000_000;
const SKIPPED_SHARE = 64;

/** Condition for an empty range, which marks a copy of a store. The first writer to the copy must skip numbers. */
const MARK = 'last < first';

/** Returns a function that is true if changes after a number are gone, or if this store never assigned the number. */
export function prepareIsGone(db: DatabaseSync): (seq: number) => boolean {
  const isGone = db.prepare(`
    SELECT ?1 < pruned_to OR ?1 > (${LAST_SEQ})
      OR EXISTS (SELECT 1 FROM skipped WHERE ?1 >= first AND ?1 < last) AS gone FROM numbering`);
  return (seq) => Number((isGone.get(seq) as { gone: number | bigint }).gone) === 1;
}

/** Skips numbers, because clients may have seen numbers, in the change log or an ETag, that the backup lacks. */
export function skipNumbers(db: DatabaseSync): void {
  const last = prepareLastSeq(db)();
  const spread = Math.floor((Number.MAX_SAFE_INTEGER - last) / SKIPPED_SHARE);
  db.exec(`DELETE FROM skipped WHERE ${MARK}`);
  db.prepare('INSERT INTO skipped VALUES (?, ?)').run(last + 1, last + SKIPPED_AT_LEAST + randomInt(spread));
}

/** Marks a backup as a copy, because a server may be started directly on the backup and on other copies of it. */
export function markCopy(db: DatabaseSync): void {
  if (!db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'skipped'`).get()) return; // absent in schema version 1
  db.exec(`INSERT INTO skipped SELECT seq + 1, seq FROM (${LAST_SEQ})`);
}

export function isMarkedCopy(db: DatabaseSync): boolean {
  return db.prepare(`SELECT 1 FROM skipped WHERE ${MARK}`).get() !== undefined;
}

export function prepareLastSeq(db: DatabaseSync): () => number {
  const lastSeq = db.prepare(LAST_SEQ);
  return () => Number((lastSeq.get() as { seq: number | bigint }).seq);
}

/** Returns a function that reads the number of plants, which the newest change has. */
export function preparePlantCount(db: DatabaseSync): () => number {
  const count = db.prepare(`
    SELECT coalesce((SELECT plant_count FROM changes ORDER BY seq DESC LIMIT 1), plant_count) AS plants FROM numbering`);
  return () => Number((count.get() as { plants: number | bigint }).plants);
}
