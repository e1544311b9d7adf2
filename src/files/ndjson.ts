// Plants in NDJSON: one JSON object a line.

import { PlantStoreError } from '../domain/errors.ts';
import type { NewPlant } from '../domain/plant.ts';
import { readJson } from '../domain/validate.ts';
import { hasMoreValues, isExactAnyway, isNestedTooDeep, printJson } from '../lib/exact-json.ts';
import { mayHaveEscapedKey } from '../lib/json-keys.ts';
import { collectPlants, isBlank, MAX_CROWDED_CHARS, MAX_VALUES, type PlantBlock, partsOf } from './plant-block.ts';
import { type Block, readRecords } from './split-records.ts';

export async function* readNdjson(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  for await (const block of readRecords(chunks)) for await (const part of partsOf(block)) yield readBlock(part);
}

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
    throw new PlantStoreError('not_valid', 'The line is an array: write one plant a line, without the brackets');
  }
  if (text.length > MAX_CROWDED_CHARS && hasMoreValues(text, MAX_VALUES)) {
    const allowed = `may have ${MAX_VALUES} members and values at most`;
    throw new PlantStoreError('body_too_large', `The line is over ${MAX_CROWDED_CHARS} characters: then it ${allowed}`);
  }
  return readJson(text, 'The line');
}

/** Parses all lines in one go, which is quicker. Undefined unless each line surely is one object without others in it. */
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
