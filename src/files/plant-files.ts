// Plants in files, read and printed block by block in either format.

import type { Format } from '../domain/names.ts';
import type { NewPlant } from '../domain/plant.ts';
import { CSV_HEADER, printCsv, readCsv } from './csv.ts';
import { printNdjson, readNdjson } from './ndjson.ts';
import type { PlantBlock } from './plant-block.ts';

const PRINTED_PLANTS = 500;
const PRINTED_CHARS = 64 * 1024;

/** Throws for a CSV file without a usable header row. `onIgnored` gets the columns of a CSV file that are not ours. */
export function readPlants(
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  onIgnored: (columns: string[]) => void = () => {},
): AsyncGenerator<PlantBlock> {
  return format === 'csv' ? readCsv(chunks, onIgnored) : readNdjson(chunks);
}

export async function* printPlants(format: Format, plants: AsyncIterable<NewPlant>): AsyncGenerator<string> {
  if (format === 'csv') yield CSV_HEADER;
  const print = format === 'csv' ? printCsv : printNdjson;
  let waiting: NewPlant[] = [];
  let chars = 0;
  for await (const plant of plants) {
    chars += plant.name.length;
    if (waiting.push(plant) < PRINTED_PLANTS && chars < PRINTED_CHARS) continue;
    yield print(waiting);
    waiting = [];
    chars = 0;
  }
  if (waiting.length > 0) yield print(waiting);
}
