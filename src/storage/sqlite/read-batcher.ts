// Batches reads: all reads requested in one turn of the event loop run at its end, in one transaction. A transaction
// costs more than the read of one record, and responses sent together cost less than single ones.

import type { DatabaseSync } from 'node:sqlite';
import { oncePerTurn } from '../../lib/once-per-turn.ts';

interface Waiting {
  read(): void;
  reject(error: unknown): void;
}

export function createReadBatcher(db: DatabaseSync): <T>(read: () => T) => Promise<T> {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  const schedule = oncePerTurn(readAll);
  let waiting: Waiting[] = [];

  return <T>(read: () => T) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ read: () => resolve(read()), reject });
      schedule();
    });

  function readAll(): void {
    const all = waiting;
    waiting = [];
    try {
      begin.run();
      for (const { read, reject } of all) attempt(read, reject);
      if (db.isTransaction) commit.run(); // a severe read error ends the transaction
    } catch (error) {
      for (const { reject } of all) reject(error); // reads that already resolved are not affected
    }
  }
}

function attempt(read: () => void, reject: (error: unknown) => void): void {
  try {
    read();
  } catch (error) {
    reject(error);
  }
}
