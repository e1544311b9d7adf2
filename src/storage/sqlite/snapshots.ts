// Reads several statements on one snapshot.

import type { DatabaseSync } from 'node:sqlite';

/** Returns a function that runs several statements on one consistent snapshot. */
export function prepareSnapshots(db: DatabaseSync): <T>(read: () => T) => T {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  return (read) => {
    begin.run();
    try {
      return read();
    } finally {
      if (db.isTransaction) commit.run(); // a severe read error ends the transaction
    }
  };
}
