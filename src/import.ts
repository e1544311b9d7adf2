// Many plants from a file into a store, block by block: the next ones are read while the last are being stored.

import type { PlantBlock } from './format.ts';
import type { Author, ImportError, ImportResult, NewPlant, PlantStore } from './plant.ts';

/** Stored in one go. More would hold up what others write in between. */
const PLANTS_AT_ONCE = 10_000;
const MAX_UNDER_WAY = 2;

export interface ImportOptions {
  by: Author;
  /** Stops after what is under way, and throws the signal's reason. */
  signal?: AbortSignal;
  /** Called for every bad line, in the order of lines but for those that are only found bad when they are stored. */
  onError?(error: ImportError): void;
  /** Called with the counts so far, whenever some plants are stored. */
  onStored?(result: Omit<ImportResult, 'errors'>): void;
}

type Counts = Omit<ImportResult, 'errors'>;

export async function importPlants(
  store: PlantStore,
  blocks: AsyncIterable<PlantBlock>,
  { by, signal, onError, onStored }: ImportOptions,
): Promise<Counts> {
  const counts: Counts = { created: 0, replayed: 0, failed: 0 };
  const underWay: Promise<void>[] = [];
  let plants: NewPlant[] = [];
  let lines: number[] = [];

  try {
    for await (const block of blocks) {
      signal?.throwIfAborted();
      for (const error of block.errors) fail(error);
      plants = plants.concat(block.plants);
      lines = lines.concat(block.lines);
      if (plants.length >= PLANTS_AT_ONCE) await hand();
    }
    await hand();
  } finally {
    await Promise.allSettled(underWay);
  }
  await Promise.all(underWay);
  return counts;

  async function hand(): Promise<void> {
    const stored = storeAll(plants, lines);
    stored.catch(() => {}); // thrown below, or at the end
    underWay.push(stored);
    plants = [];
    lines = [];
    if (underWay.length >= MAX_UNDER_WAY) await underWay.shift();
  }

  async function storeAll(some: NewPlant[], theirLines: number[]): Promise<void> {
    const result = await store.import(some, by);
    counts.created += result.created;
    counts.replayed += result.replayed;
    for (const { line, error } of result.errors) fail({ line: theirLines[line - 1] as number, error });
    onStored?.(counts);
  }

  function fail(error: ImportError): void {
    counts.failed++;
    onError?.(error);
  }
}
