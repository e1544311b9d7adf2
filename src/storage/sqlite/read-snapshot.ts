// A consistent snapshot of the database, on a connection of its own, which writes of others do not change.

import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../domain/errors.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { openReader } from './database.ts';
import { failureOf, isDamage } from './sqlite-errors.ts';

export interface ReadSnapshot {
  /** In a read transaction. */
  db: DatabaseSync;
  /** Of the last change that it sees. */
  seq: number;
}

/**
 * Throws `unavailable` where it cannot be opened: the process may have too many files open. What is open already is not
 * concerned, so that is no reason to end, as it would be for any other statement.
 */
export function openReadSnapshot(path: string): ReadSnapshot {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(path);
    db.exec('BEGIN');
    return { db, seq: prepareLastSeq(db)() }; // from here on it sees nothing new
  } catch (error) {
    db?.close();
    if (isDamage(error) || failureOf(error) === 'bug') throw error;
    throw unavailable('The database cannot be opened once more now: try again later', error);
  }
}
