// Opens consistent snapshots of the database, each on its own connection. Later writes do not affect them.

import type { DatabaseSync } from 'node:sqlite';
import { type PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { NewPlant, Snapshot } from '../../domain/plant.ts';
import type { SharedCount } from '../../lib/shared-count.ts';
import { toNewPlant } from '../row-mapping.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { openReader } from './database.ts';
import { failureOf, isDamage, type ReadGuard } from './sqlite-errors.ts';

/** Interval for checking whether the writer has ended the snapshots. It must be shorter than its wait for readers. */
const CHECK_MS = 100;
const WAL_TOO_LONG =
  'The server ended the export: it took so long that the WAL reached its limit. Export again, over a faster connection or while fewer records are written.';

/**
 * Returns a connection in a read transaction, and the number of the last change in its snapshot. Throws `unavailable`
 * if the file cannot be opened, for example because the process has too many open files. The process can continue then,
 * because files that are already open stay usable.
 */
export function openReadSnapshot(path: string): { db: DatabaseSync; seq: number } {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(path);
    db.exec('BEGIN');
    return { db, seq: prepareLastSeq(db)() }; // this first read starts the snapshot
  } catch (error) {
    db?.close();
    if (isDamage(error) || failureOf(error) === 'bug') throw error;
    throw unavailable('The server cannot open another database connection now. Retry later.', error);
  }
}

/**
 * Returns all plants of a snapshot. While the snapshot is open, the WAL keeps all later changes. So it is closed after
 * the last plant, when the reader stops, or when the writer raises `endings`, because the WAL is too long.
 */
export function openExportSnapshot(path: string, read: ReadGuard['read'], endings: SharedCount): Snapshot {
  const endingsBefore = endings.value;
  const { db, seq } = read(() => openReadSnapshot(path));
  const select = db.prepare('SELECT id, name, tag FROM plants ORDER BY id');
  select.setReadBigInts(true);
  const rows = select.iterate() as Iterator<{ id: bigint; name: string; tag: string | null }>;
  let open = true;
  let ended: PlantStoreError | undefined;
  const checking = setInterval(() => {
    if (endings.value === endingsBefore) return;
    ended = unavailable(WAL_TOO_LONG);
    close();
  }, CHECK_MS).unref();

  const iterator: AsyncIterator<NewPlant> = {
    async next() {
      if (ended) throw ended;
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
    clearInterval(checking);
    db.close();
  }
}
