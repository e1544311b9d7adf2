// The number of the last change, also when that change itself is no longer there, and the numbers that a copy of the
// store skips.

import { randomInt } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

const LAST_SEQ = `
  SELECT max(
    pruned_to,
    coalesce((SELECT max(seq) FROM changes), 0),
    coalesce((SELECT max(last) FROM skipped), 0)
  ) AS seq FROM numbering`;

/**
 * A restore skips a billion numbers, far more than can have been written after a backup, and a random count of up to
 * 1/64 of the numbers that are left below 2^53 (at first 2^47), so that two restores of one backup give different ones:
 * if both write a million changes, they give a number twice with a probability of 2 * 10^6 / 2^47, 1 in 70 million.
 * A chain of 900 restores still fits. PostgreSQL's skip_change_numbers() has the same rule.
 */
const SKIPPED_AT_LEAST = 1_000_000_000;
const SKIPPED_SHARE = 64;

/** A range without numbers marks a copy of a store: whoever writes to it first has to skip numbers. */
const MARK = 'last < first';

/** Gives a function that is true if some change above the number is gone, or if this store never gave the number. */
export function prepareIsGone(db: DatabaseSync): (seq: number) => boolean {
  const isGone = db.prepare(`
    SELECT ?1 < pruned_to OR ?1 > (${LAST_SEQ})
      OR EXISTS (SELECT 1 FROM skipped WHERE ?1 >= first AND ?1 < last) AS gone FROM numbering`);
  return (seq) => Number((isGone.get(seq) as { gone: number | bigint }).gone) === 1;
}

/** A client that follows the change log, or holds an ETag, may have seen numbers that a backup does not know. */
export function skipNumbers(db: DatabaseSync): void {
  const last = prepareLastSeq(db)();
  const spread = Math.floor((Number.MAX_SAFE_INTEGER - last) / SKIPPED_SHARE);
  db.exec(`DELETE FROM skipped WHERE ${MARK}`);
  db.prepare('INSERT INTO skipped VALUES (?, ?)').run(last + 1, last + SKIPPED_AT_LEAST + randomInt(spread));
}

/** For a backup: somebody may start a server on it as it is, and on another copy of it as well. */
export function markCopy(db: DatabaseSync): void {
  if (!db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'skipped'`).get()) return; // the first version had none
  db.exec(`INSERT INTO skipped SELECT seq + 1, seq FROM (${LAST_SEQ})`);
}

export function isMarkedCopy(db: DatabaseSync): boolean {
  return db.prepare(`SELECT 1 FROM skipped WHERE ${MARK}`).get() !== undefined;
}

export function prepareLastSeq(db: DatabaseSync): () => number {
  const lastSeq = db.prepare(LAST_SEQ);
  return () => Number((lastSeq.get() as { seq: number | bigint }).seq);
}
