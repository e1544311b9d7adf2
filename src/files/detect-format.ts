// Reads files of plants whose format is not declared.

import type { Format } from '../domain/names.ts';
import { firstCharacter } from './bytes.ts';
import type { PlantBlock } from './plant-block.ts';
import { readPlants } from './plant-files.ts';

/** Maximum number of bytes that are searched for the first character. */
const SEARCHED_BYTES = 64 * 1024;
const BRACE = 0x7b;

/** Yields the plants of a file. A file whose first character is `{` is NDJSON, every other file is CSV. */
export async function* readUndeclaredPlants(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  const iterator = chunks[Symbol.asyncIterator]();
  const searched: Uint8Array[] = [];
  let format: Format | undefined;
  for (let bytes = 0; format === undefined && bytes < SEARCHED_BYTES; ) {
    const { value, done } = await iterator.next();
    if (done) break;
    searched.push(value);
    bytes += value.length;
    const first = firstCharacter(value);
    if (first !== undefined) format = first === BRACE ? 'ndjson' : 'csv';
  }
  yield* readPlants(format ?? 'csv', all());

  async function* all(): AsyncGenerator<Uint8Array> {
    yield* searched;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
}
