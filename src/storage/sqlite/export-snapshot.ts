// A consistent snapshot of all plants, while others continue to write: a read transaction on a connection of its own.
// As long as it is open the WAL keeps what came after it, so it is closed with the last plant, or when nobody reads on.

import type { NewPlant, Snapshot } from '../../domain/plant.ts';
import { toNewPlant } from '../row-mapping.ts';
import { openReadSnapshot } from './read-snapshot.ts';

/** `read` turns SQLite's errors into ours. */
export function openExportSnapshot(path: string, read: <T>(query: () => T) => T, onClose: () => void): Snapshot {
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
