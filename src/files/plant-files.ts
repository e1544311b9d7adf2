// Reads and prints files of plants in NDJSON or CSV, block by block. CSV is loaded on first use, because most servers
// start without it.

import type { Format } from '../domain/names.ts';
import type { NewPlant } from '../domain/plant.ts';
import { firstCharacter, inLargeChunks, readFirst, withFirst } from './bytes.ts';
import { printNdjson, readNdjson } from './ndjson.ts';
import type { PlantBlock } from './plant-block.ts';

const BRACE = 0x7b;
const PRINTED_PLANTS = 500;
const PRINTED_CHARS = 64 * 1024;

/** Yields the plants of a file. Throws if a CSV header row is invalid. */
export async function* readPlants(format: Format, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  yield* format === 'csv' ? (await import('./csv.ts')).readCsv(chunks) : readNdjson(chunks);
}

/** Yields the plants of a file without a declared format: NDJSON if its first character is `{`, and otherwise CSV. */
export async function* readUndeclaredPlants(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  const { first, rest } = await readFirst(inLargeChunks(chunks));
  yield* readPlants(firstCharacter(first) === BRACE ? 'ndjson' : 'csv', withFirst(first, rest));
}

/** Yields the text of a file of plants. */
export async function* printPlants(format: Format, plants: AsyncIterable<NewPlant>): AsyncGenerator<string> {
  const csv = format === 'csv' ? await import('./csv.ts') : undefined;
  if (csv) yield csv.CSV_HEADER;
  const print = csv?.printCsv ?? printNdjson;
  let collected: NewPlant[] = [];
  let chars = 0;
  for await (const plant of plants) {
    chars += plant.name.length;
    if (collected.push(plant) < PRINTED_PLANTS && chars < PRINTED_CHARS) continue;
    yield print(collected);
    collected = [];
    chars = 0;
  }
  if (collected.length > 0) yield print(collected);
}
