// Many plants from a file into a store, block by block: the next ones are read while others are being stored.

import type { Author, ImportError, ImportResult, PlantStore } from '../domain/plant.ts';
import type { PlantBlock } from './plant-block.ts';

/** Blocks that are read and not yet stored. */
const MAX_UNDER_WAY = 32;

export type Counts = Omit<ImportResult, 'errors'>;

export interface ImportOptions {
  by: Author;
  /** Stops after what is under way, and throws the signal's reason. */
  signal?: AbortSignal;
  /** Called for every bad line, in the order of lines. */
  onError(error: ImportError): void;
  /** Called with the counts so far after every block. */
  onStored?(counts: Counts): void;
}

export async function importPlants(
  store: PlantStore,
  blocks: AsyncIterable<PlantBlock>,
  { by, signal, onError, onStored }: ImportOptions,
): Promise<Counts> {
  const counts: Counts = { created: 0, replayed: 0, failed: 0 };
  const underWay: Promise<void>[] = [];

  try {
    for await (const block of blocks) {
      signal?.throwIfAborted();
      const stored = storeBlock(block, underWay.at(-1));
      stored.catch(() => {}); // thrown below, or at the end
      underWay.push(stored);
      if (underWay.length >= MAX_UNDER_WAY) await underWay.shift();
    }
  } finally {
    await Promise.allSettled(underWay);
  }
  await Promise.all(underWay);
  return counts;

  async function storeBlock({ plants, lines, errors }: PlantBlock, before: Promise<void> | undefined): Promise<void> {
    const result = await store.import(plants, by);
    await before; // so that lines are named in their order
    const refused = result.errors.map(({ line, error }) => ({ line: lines[line - 1] as number, error }));
    const failed = [...errors, ...refused].sort((a, b) => a.line - b.line);
    for (const error of failed) onError(error);
    counts.created += result.created;
    counts.replayed += result.replayed;
    counts.failed += failed.length;
    onStored?.(counts);
  }
}
