// Adds blocks of changes to `change_times`. The writer remembers the times of the changes after the last block, so that
// it does not read them again.

import type { DatabaseSync } from 'node:sqlite';
import { BLOCK_CHANGES } from '../change-times.ts';

/** Earliest and latest time of the changes after number `last` up to number `seq`. */
interface Tail {
  seq: number;
  last: number;
  earliest: number;
  latest: number;
}

export function prepareChangeTimes(db: DatabaseSync) {
  const readTail = db.prepare(`
    SELECT block.last, min(time) AS earliest, max(time) AS latest
    FROM (SELECT coalesce(max(last), 0) AS last FROM change_times) AS block LEFT JOIN changes ON seq > block.last`);
  const insert = db.prepare('INSERT INTO change_times (first, last, earliest, latest) VALUES (?, ?, ?, ?)');
  let tail = emptyTail(-1);

  return {
    /** Must be called before each batch, with the number of the last change. A rejected write may widen the times. */
    begin(seq: number, batch: { kind: string; nowMs?: number }[]): void {
      if (seq !== tail.seq) tail = read(seq); // after a rollback, or a write of another process
      for (const { nowMs } of batch) {
        if (nowMs === undefined) continue;
        if (nowMs < tail.earliest) tail.earliest = nowMs;
        if (nowMs > tail.latest) tail.latest = nowMs;
      }
    },
    /** Must be called after each batch, with the number of the last change. */
    end(seq: number): void {
      tail.seq = seq;
      if (seq - tail.last < BLOCK_CHANGES) return;
      insert.run(tail.last + 1, seq, tail.earliest, tail.latest);
      tail = emptyTail(seq);
    },
  };

  function read(seq: number): Tail {
    const { last, earliest, latest } = readTail.get() as Record<'last' | 'earliest' | 'latest', bigint | null>;
    if (earliest === null) return emptyTail(seq);
    return { seq, last: Number(last), earliest: Number(earliest), latest: Number(latest) };
  }
}

function emptyTail(last: number): Tail {
  return { seq: last, last, earliest: Number.POSITIVE_INFINITY, latest: Number.NEGATIVE_INFINITY };
}
