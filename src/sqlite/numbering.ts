// The number of the last change, also when that change itself is no longer there.

import type { DatabaseSync } from 'node:sqlite';

const LAST_SEQ = `
  SELECT max(
    pruned_to,
    coalesce((SELECT max(seq) FROM changes), 0),
    coalesce((SELECT max(last) FROM skipped), 0)
  ) AS seq FROM numbering`;
/** Far more than can have been written after a backup. */
const SKIPPED_BY_RESTORE = 1_000_000_000;

/** Gives a function that tells if some change above the number can no longer be shown, or was undone by a restore. */
export function prepareIsGone(db: DatabaseSync): (seq: number) => boolean {
  const isGone = db.prepare(`
    SELECT ?1 < pruned_to OR EXISTS (SELECT 1 FROM skipped WHERE ?1 >= first AND ?1 < last) AS gone FROM numbering`);
  return (seq) => Number((isGone.get(seq) as { gone: number | bigint }).gone) === 1;
}

/** Whoever follows the log, or holds an ETag, may have seen numbers that a backup does not know. */
export function skipNumbers(db: DatabaseSync): void {
  const last = prepareLastSeq(db)();
  db.prepare('INSERT INTO skipped VALUES (?, ?)').run(last + 1, last + SKIPPED_BY_RESTORE);
}

export function prepareLastSeq(db: DatabaseSync): () => number {
  const lastSeq = db.prepare(LAST_SEQ);
  return () => Number((lastSeq.get() as { seq: number | bigint }).seq);
}
