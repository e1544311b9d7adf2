// What is known of the whole file without counting.

import { stat } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import type { StoreStats } from '../../domain/store.ts';
import { prepareLastSeq } from './change-numbers.ts';

export function prepareStats(db: DatabaseSync, path: string): () => Promise<StoreStats> {
  const lastSeq = prepareLastSeq(db);

  return async () => {
    const sizes = await Promise.all([path, `${path}-wal`].map((file) => sizeOf(file)));
    return { lastSeq: lastSeq(), bytes: sizes.reduce((sum, size) => sum + size, 0) };
  };
}

/** After a checkpoint at the end there is no WAL. */
async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
