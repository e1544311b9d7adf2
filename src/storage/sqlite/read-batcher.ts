// Reads that are asked for in one turn of the event loop are made at its end, in one transaction: to begin and end one
// costs more than a read of one record, and answers that leave together cost less than one by one.

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
      if (db.isTransaction) commit.run(); // a read that failed badly has ended it
    } catch (error) {
      for (const { reject } of all) reject(error); // those that have their answer keep it
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
