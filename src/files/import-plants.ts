// Imports the plants of a file into a store, block by block. It reads the next blocks while others are being stored.

import type { Author, ImportError, ImportResult, PlantStore } from '../domain/plant.ts';
import { paced } from '../lib/event-loop-turns.ts';
import type { PlantBlock } from './plant-block.ts';

/** Maximum number of blocks that are read but not yet stored. */
const MAX_IN_PROGRESS = 32;

/** The numbers of created, replayed and failed plants. */
export type Counts = Omit<ImportResult, 'errors'>;

/** Options of an import. */
export interface ImportOptions {
  by: Author;
  /** Stops the import after the blocks in progress. The import then throws the signal's reason. */
  signal?: AbortSignal;
  /** Called for every invalid line, in order of line number. */
  onError(error: ImportError): void;
  /** Called with the current counts after every block. */
  onStored?(counts: Counts): void;
}

/** Imports all blocks and returns the counts. */
export async function importPlants(
  store: Pick<PlantStore, 'import'>,
  blocks: AsyncIterable<PlantBlock>,
  { by, signal, onError, onStored }: ImportOptions,
): Promise<Counts> {
  const counts: Counts = { created: 0, replayed: 0, failed: 0 };
  const inProgress: Promise<void>[] = [];

  try {
    for await (const block of paced(blocks, by.tokenId)) {
      signal?.throwIfAborted();
      const stored = storeBlock(block, inProgress.at(-1));
      stored.catch(() => {}); // the error is thrown below or at the end
      inProgress.push(stored);
      if (inProgress.length >= MAX_IN_PROGRESS) await inProgress.shift();
    }
  } finally {
    await Promise.allSettled(inProgress);
  }
  await Promise.all(inProgress);
  return counts;

  async function storeBlock({ plants, lines, errors }: PlantBlock, before: Promise<void> | undefined): Promise<void> {
    const result = await store.import(plants, by);
    await before; // so that errors are reported in order of line number
    const rejected = result.errors.map(({ line, error }) => ({ line: lines[line - 1] as number, error }));
    const failed = [...errors, ...rejected].sort((a, b) => a.line - b.line);
    for (const error of failed) onError(error);
    counts.created += result.created;
    counts.replayed += result.replayed;
    counts.failed += failed.length;
    onStored?.(counts);
  }
}
