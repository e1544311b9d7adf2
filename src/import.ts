// Many plants from a file into a store, batch by batch: the next one is read while the last is being stored.

import type { PlantBlock } from './format.ts';
import type { Author, ImportError, ImportResult, NewPlant, PlantStore } from './plant.ts';

/** Stored in one go. More would hold up what others write in between. */
const PLANTS_AT_ONCE = 10_000;
const BYTES_AT_ONCE = 4 * 1024 * 1024;
const MAX_UNDER_WAY = 2;

export type Counts = Omit<ImportResult, 'errors'>;

export interface ImportOptions {
  by: Author;
  /** Stops after what is under way, and throws the signal's reason. */
  signal?: AbortSignal;
  /** Called for every bad line, in the order of lines. */
  onError(error: ImportError): void;
  /** Called with the counts so far after every batch. */
  onStored?(counts: Counts): void;
}

interface Batch {
  plants: NewPlant[];
  /** Of each plant. */
  lines: number[];
  errors: ImportError[];
  bytes: number;
}

export async function importPlants(
  store: PlantStore,
  blocks: AsyncIterable<PlantBlock>,
  { by, signal, onError, onStored }: ImportOptions,
): Promise<Counts> {
  const counts: Counts = { created: 0, replayed: 0, failed: 0 };
  const underWay: Promise<void>[] = [];
  let batch = emptyBatch();

  try {
    for await (const block of blocks) {
      signal?.throwIfAborted();
      batch.plants = batch.plants.concat(block.plants);
      batch.lines = batch.lines.concat(block.lines);
      batch.errors = batch.errors.concat(block.errors);
      batch.bytes += block.bytes;
      if (batch.plants.length >= PLANTS_AT_ONCE || batch.bytes >= BYTES_AT_ONCE) await hand();
    }
    await hand();
  } finally {
    await Promise.allSettled(underWay);
  }
  await Promise.all(underWay);
  return counts;

  async function hand(): Promise<void> {
    const stored = storeBatch(batch, underWay.at(-1));
    stored.catch(() => {}); // thrown below, or at the end
    underWay.push(stored);
    batch = emptyBatch();
    if (underWay.length >= MAX_UNDER_WAY) await underWay.shift();
  }

  async function storeBatch({ plants, lines, errors }: Batch, before: Promise<void> | undefined): Promise<void> {
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

function emptyBatch(): Batch {
  return { plants: [], lines: [], errors: [], bytes: 0 };
}
