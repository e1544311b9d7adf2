// The number of the last change, also when that change itself is no longer there.

import type { DatabaseSync } from 'node:sqlite';

const LAST_SEQ = `SELECT max(pruned_to, coalesce((SELECT max(seq) FROM changes), 0)) AS seq FROM numbering`;

export function prepareLastSeq(db: DatabaseSync): () => number {
  const lastSeq = db.prepare(LAST_SEQ);
  return () => Number((lastSeq.get() as { seq: number | bigint }).seq);
}
