// Converts the records of a file to plants, block by block, and collects the errors of invalid lines.

import { PlantStoreError } from '../domain/errors.ts';
import { type ImportError, NewPlant } from '../domain/plant.ts';
import { validate } from '../domain/validate.ts';
import type { Block } from './split-records.ts';

/** Length above which a line can have at most MAX_VALUES values. Parsing more of them would stall other requests. */
export const MAX_CROWDED_CHARS = 32 * 1024;
/** Maximum number of values in a line longer than MAX_CROWDED_CHARS. */
export const MAX_VALUES = 1000;
export const MAX_TEXT_BYTES = 64 * 1024;

/** The plants and errors of a part of a file. */
export interface PlantBlock {
  plants: NewPlant[];
  /** Line number of each plant. */
  lines: number[];
  errors: ImportError[];
}

/** Returns the plants of a block. `toValue` returns undefined to skip a line, and throws for an invalid one. */
export function collectPlants(
  { texts, lines, errors }: Block,
  toValue: (text: string, at: number) => unknown,
): PlantBlock {
  const block: PlantBlock = { plants: [], lines: [], errors };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // an invalid line is not a bug, and a stack trace takes longer than everything else here
  try {
    for (let at = 0; at < texts.length; at++) collectLine(texts[at] as string, at);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  errors.sort((a, b) => a.line - b.line);
  return block;

  function collectLine(text: string, at: number): void {
    const line = lines[at] as number;
    try {
      const value = toValue(text, at);
      if (value === undefined) return;
      block.plants.push(requireShort(validate(NewPlant, value, 'The line')));
      block.lines.push(line);
    } catch (error) {
      if (!(error instanceof PlantStoreError)) throw error;
      errors.push({ line, error });
    }
  }
}

/** Throws if the name or the tag is too long, as for a plant in its own request. */
function requireShort(plant: NewPlant): NewPlant {
  for (const field of ['name', 'tag'] as const) {
    const text = plant[field] ?? '';
    if (text.length > MAX_TEXT_BYTES / 3 && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new PlantStoreError('body_too_large', `"${field}" is over ${MAX_TEXT_BYTES} bytes`);
    }
  }
  return plant;
}

/** True if the line contains only white space. */
export function isBlank(text: string): boolean {
  return !(text.charCodeAt(0) > 0x20) && text.trim() === '';
}
