// Reads and prints plants as NDJSON: one JSON object per line.

import { PlantStoreError } from '../domain/errors.ts';
import type { NewPlant } from '../domain/plant.ts';
import { readJson } from '../domain/validate.ts';
import { hasMoreValues, isExactAnyway, isNestedTooDeep, printJson } from '../lib/exact-json.ts';
import { mayHaveEscapedKey } from '../lib/json-keys.ts';
import { collectPlants, isBlank, MAX_CROWDED_CHARS, MAX_VALUES, type PlantBlock } from './plant-block.ts';
import { type Block, readRecords } from './split-records.ts';

/** Yields the plants of an NDJSON file. */
export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  for await (const block of readRecords(chunks)) yield readBlock(block);
}

/** Returns the plants as NDJSON. */
export function printNdjson(plants: NewPlant[]): string {
  return plants.map((plant) => `${printJson(plant)}\n`).join('');
}

function readBlock(block: Block): PlantBlock {
  const values = isExactAnyway(block.bytes) ? readAllObjects(block.texts) : undefined;
  if (values) return collectPlants(block, (_text, at) => values[at]);
  return collectPlants(block, (text) => (isBlank(text) ? undefined : readLine(text)));
}

function readLine(text: string): unknown {
  if (/^\s*\[/.test(text)) {
    throw new PlantStoreError('not_valid', 'The line is an array. Write one plant per line, without brackets.');
  }
  if (text.length > MAX_CROWDED_CHARS && hasMoreValues(text, MAX_VALUES)) {
    const limit = `at most ${MAX_VALUES} fields and values`;
    throw new PlantStoreError('body_too_large', `A line over ${MAX_CROWDED_CHARS} characters can have ${limit}`);
  }
  return readJson(text, 'The line');
}

/** Parses all lines at once, which is faster. Returns undefined unless every line is certainly one flat object. */
function readAllObjects(texts: string[]): unknown[] | undefined {
  if (!texts.every(isPlainObject)) return undefined;
  try {
    const values = JSON.parse(`[${texts.join(',\n')}]`) as unknown[];
    return values.length === texts.length && values.every(isObject) ? values : undefined;
  } catch {
    return undefined;
  }
}

function isPlainObject(text: string): boolean {
  if (text.length > MAX_CROWDED_CHARS || text.lastIndexOf('{') !== 0) return false;
  return !isNestedTooDeep(text) && !mayHaveEscapedKey(text);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
