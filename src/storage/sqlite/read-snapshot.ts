// A consistent snapshot of the database, on a connection of its own, which writes of others do not change.

import type { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../domain/errors.ts';
import type { NewPlant, Snapshot } from '../../domain/plant.ts';
import { toNewPlant } from '../row-mapping.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { openReader } from './database.ts';
import { failureOf, isDamage, type ReadGuard } from './sqlite-errors.ts';

/**
 * Returns a connection in a read transaction, and the number of the last change that it sees. Throws `unavailable` where
 * it cannot be opened, as when the process has too many files open: that is no reason to end, as what is open stays so.
 */
export function openReadSnapshot(path: string): { db: DatabaseSync; seq: number } {
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

/**
 * Returns all plants of a snapshot. As long as it is open the WAL keeps what came after it, so it is closed with the last
 * plant, or when nobody reads on.
 */
export function openExportSnapshot(path: string, read: ReadGuard['read'], onClose: () => void): Snapshot {
  const { db, seq } = read(() => openReadSnapshot(path));
  const select = db.prepare('SELECT id, name, tag FROM plants ORDER BY id');
  select.setReadBigInts(true);
  const rows = select.iterate() as Iterator<{ id: bigint; name: string; tag: string | null }>;
  let open = true;

  const iterator: AsyncIterator<NewPlant> = {
    async next() {
      if (!open) return { done: true, value: undefined };
      const { done, value } = read(() => rows.next());
      if (!done) return { done: false, value: toNewPlant(value.id, value) };
      close();
      return { done: true, value: undefined };
    },
    async return() {
      close();
      return { done: true, value: undefined };
    },
  };
  return {
    seq,
    plants: { [Symbol.asyncIterator]: () => iterator },
    count: async () => read(() => db.prepare('SELECT count(*) AS count FROM plants').get() as { count: number }).count,
    close,
  };

  function close(): void {
    if (!open) return;
    open = false;
    db.close();
    onClose();
  }
}
