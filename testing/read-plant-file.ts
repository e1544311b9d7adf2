// Reads bytes as a plant file, in chunks of a given size.

import type { Format } from '../src/domain/names.ts';
import type { ImportError, NewPlant } from '../src/domain/plant.ts';
import { readPlants } from '../src/files/plant-files.ts';

export async function readPlantFile(
  format: Format,
  bytes: Buffer,
  size: number,
): Promise<{ plants: [number, NewPlant][]; errors: ImportError[] }> {
  const plants: [number, NewPlant][] = [];
  const errors: ImportError[] = [];
  for await (const block of readPlants(format, chunked(bytes, size))) {
    for (const [at, one] of block.plants.entries()) plants.push([block.lines[at] as number, one]);
    errors.push(...block.errors);
  }
  return { plants, errors };
}

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
