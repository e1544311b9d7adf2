// Reads that are asked for in one turn of the event loop are made at its end, in one transaction: to begin and end one
// costs more than a read of one record, and answers that leave together cost less than one by one.

import type { DatabaseSync } from 'node:sqlite';

export type Together = <T>(read: () => T) => Promise<T>;

export function createTogether(db: DatabaseSync): Together {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let waiting: (() => void)[] = [];

  return (read) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(readAll);
      waiting.push(() => {
        try {
          resolve(read());
        } catch (error) {
          reject(error);
        }
      });
    });

  function readAll(): void {
    const reads = waiting;
    waiting = [];
    if (!db.isOpen) return; // nobody waits for an answer any more
    begin.run();
    for (const read of reads) read();
    commit.run();
  }
}
