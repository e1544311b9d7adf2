// Records of a file → plants, block by block, with the lines that are wrong.

import { PlantStoreError } from '../domain/errors.ts';
import { type ImportError, NewPlant } from '../domain/plant.ts';
import { validate } from '../domain/validate.ts';
import { nextEventLoopTurn } from '../lib/event-loop-turns.ts';
import type { Block } from './split-records.ts';

/** A longer line may hold MAX_VALUES values at most: to read as many as would fit into it stalls all other requests. */
export const MAX_CROWDED_CHARS = 64 * 1024;
export const MAX_VALUES = 1000;
const MAX_TEXT_BYTES = 64 * 1024;
const LINES_AT_ONCE = 1000;

export interface PlantBlock {
  plants: NewPlant[];
  /** Line of each plant. */
  lines: number[];
  errors: ImportError[];
}

/** Cuts a block of very many short lines into parts, and waits for a turn of the event loop before each. */
export async function* partsOf(block: Block): AsyncGenerator<Block> {
  for (let at = 0; at === 0 || at < block.texts.length; at += LINES_AT_ONCE) {
    await nextEventLoopTurn();
    const end = at + LINES_AT_ONCE;
    const first = at === 0 ? 0 : (block.lines[at] as number);
    const next = block.lines[end] ?? Number.POSITIVE_INFINITY;
    yield {
      texts: block.texts.slice(at, end),
      lines: block.lines.slice(at, end),
      errors: block.errors.filter(({ line }) => line >= first && line < next),
      bytes: block.bytes,
    };
  }
}

/** Returns the plants of a block. `toValue` returns undefined for a line to skip, and throws for one that is wrong. */
export function collectPlants(
  { texts, lines, errors }: Block,
  toValue: (text: string, at: number) => unknown,
): PlantBlock {
  const block: PlantBlock = { plants: [], lines: [], errors };
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // a bad line is no bug, and to find out where we are takes longer than all the rest
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

/** As if it had come in a body of its own. */
function requireShort(plant: NewPlant): NewPlant {
  for (const member of ['name', 'tag'] as const) {
    const text = plant[member] ?? '';
    if (text.length > MAX_TEXT_BYTES / 3 && Buffer.byteLength(text) > MAX_TEXT_BYTES) {
      throw new PlantStoreError('body_too_large', `"${member}" is over ${MAX_TEXT_BYTES} bytes`);
    }
  }
  return plant;
}

/** True if the line has nothing but white space. */
export function isBlank(text: string): boolean {
  return !(text.charCodeAt(0) > 0x20) && text.trim() === '';
}
