// Plants in a file: NDJSON, one JSON object a line, or CSV with the header row id,name,tag. Read block by block with
// what is wrong and where, printed block by block.

import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { PlantStoreError } from '../domain/errors.ts';
import type { Format } from '../domain/names.ts';
import { type ImportError, NewPlant } from '../domain/plant.ts';
import { readJson, validate } from '../domain/validate.ts';
import { nextEventLoopTurn } from '../lib/event-loop-turns.ts';
import { hasMoreValues, isExactAnyway, isNestedTooDeep, printJson } from '../lib/exact-json.ts';
import { mayHaveEscapedKey } from '../lib/json-keys.ts';
import { type Block, readRecords } from './split-records.ts';

const COLUMNS = ['id', 'name', 'tag'] as const;
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_HEADER_SHOWN = 100;
const LINES_AT_ONCE = 1000;
/** A longer line is one of long texts: to read as many other values as would fit into it takes longer than anybody may wait. */
const MAX_CROWDED_CHARS = 64 * 1024;
const MAX_VALUES = 1000;
/** A longer number is no id, and takes long to read. */
const MAX_ID_CHARS = 100;
const COMMA = 0x2c;
const QUOTE = 0x22;
const PRINTED_PLANTS = 500;
const PRINTED_CHARS = 64 * 1024;

export interface PlantBlock {
  plants: NewPlant[];
  /** Of each plant. */
  lines: number[];
  errors: ImportError[];
}

/**
 * Throws when the header row of a CSV file does not name the columns, or is all there is; all else is an error of its
 * line. `onIgnored` gets the columns that are not ours.
 */
export async function* readPlants(
  format: Format,
  chunks: AsyncIterable<Uint8Array>,
  onIgnored: (columns: string[]) => void = () => {},
): AsyncGenerator<PlantBlock> {
  if (format === 'ndjson') {
    for await (const block of readRecords(chunks)) for await (const part of partsOf(block)) yield readNdjson(part);
    return;
  }
  let read: ((block: Block) => PlantBlock) | undefined;
  let rows = 0;
  let lastByte: number | undefined;
  for await (const block of readRecords(watched(chunks), true)) {
    if (!read) {
      const header = block.texts.shift();
      if (header === undefined) continue;
      block.lines.shift();
      read = createReadCsv(header, onIgnored);
    }
    rows += block.texts.length + block.errors.length;
    for await (const part of partsOf(block)) yield read(part);
  }
  if (lastByte === undefined) throw new PlantStoreError('not_json', 'The file is empty');
  if (rows === 0 && lastByte !== 0x0a) {
    const advice =
      'if there are more, line ends were lost on the way (curl keeps them with --data-binary @FILE, not with -d)';
    throw new PlantStoreError('not_json', `The file ends with its first line, and has no plant: ${advice}`);
  }

  async function* watched(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      lastByte = chunk.at(-1) ?? lastByte;
      yield chunk;
    }
  }
}

export async function* printPlants(format: Format, plants: AsyncIterable<NewPlant>): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\n`;
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

/** A block of very short lines has very many, and is not worked off in one go. */
async function* partsOf(block: Block): AsyncGenerator<Block> {
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

function readNdjson(block: Block): PlantBlock {
  const values = isExactAnyway(block.bytes) ? readAllObjects(block.texts) : undefined;
  if (values) return collect(block, (_text, at) => values[at]);
  return collect(block, (text) => (isBlank(text) ? undefined : readLine(text)));
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

/**
 * Parses them in one go, which is quicker. Undefined unless that surely gives the same: there are as many braces as
 * lines, each line begins with one, and as many objects come out.
 */
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

function createReadCsv(header: string, onIgnored: (columns: string[]) => void): (block: Block) => PlantBlock {
  const columns = readHeader(header);
  const [idAt, nameAt, tagAt] = COLUMNS.map((column) => columns.indexOf(column)) as [number, number, number];
  const ignored = columns.filter((column) => !COLUMNS.some((known) => known === column));
  if (ignored.length > 0) onIgnored(ignored);
  return (block) => {
    const rows = block.texts.some(hasTooManyCells) ? undefined : readAllCells(block.texts);
    return collect(block, (text, at) => {
      if (isBlank(text)) return undefined;
      if (!rows && hasTooManyCells(text)) {
        throw new PlantStoreError(
          'body_too_large',
          `The line is over ${MAX_CROWDED_CHARS} characters and ${MAX_VALUES} cells`,
        );
      }
      const cells = rows?.[at] ?? readCells([text])[0] ?? [];
      if (cells.length > columns.length) {
        throw new PlantStoreError('not_valid', `The line has ${cells.length} cells for ${columns.length} columns`);
      }
      const tag = cells[tagAt];
      const hasTag = tag !== undefined && (tag.text !== '' || tag.quoted);
      return {
        ...(cells[idAt] && { id: readId(cells[idAt].text) }),
        ...(cells[nameAt] && { name: cells[nameAt].text }),
        ...(hasTag && { tag: tag.text }),
      };
    });
  };
}

/** To read as many cells as fit into a line takes longer than anybody may wait. */
function hasTooManyCells(text: string): boolean {
  if (text.length <= MAX_CROWDED_CHARS) return false;
  let cells = 1;
  for (let at = 0; at < text.length; at++) {
    const isStart = at === 0 || text.charCodeAt(at - 1) === COMMA;
    if (isStart && text.charCodeAt(at) === QUOTE) {
      at++;
      while (at < text.length && (text.charCodeAt(at) !== QUOTE || text.charCodeAt(++at) === QUOTE)) at++;
    }
    if (text.charCodeAt(at) === COMMA && ++cells > MAX_VALUES) return true;
  }
  return false;
}

function readHeader(header: string): string[] {
  if (hasTooManyCells(header)) {
    throw new PlantStoreError(
      'not_valid',
      `The first line has over ${MAX_VALUES} columns. It must name the columns, as in "id,name,tag"`,
    );
  }
  const columns = (readCells([header])[0] ?? []).map(({ text }) => text.trim().toLowerCase());
  const missing = ['id', 'name'].find((column) => !columns.includes(column));
  const twice = COLUMNS.find((column) => columns.indexOf(column) !== columns.lastIndexOf(column));
  if (!missing && !twice) return columns;
  const separator = columns.length === 1 ? /[;\t]/.exec(header)?.[0] : undefined;
  const finding = separator
    ? `is separated by ${JSON.stringify(separator)}: save the file with commas`
    : header.includes('\0')
      ? 'is not UTF-8 (it may be UTF-16): save the file as UTF-8'
      : missing
        ? `has no column "${missing}" (it has: ${columns.join(', ').slice(0, MAX_HEADER_SHOWN)})`
        : `has the column "${twice}" twice`;
  throw new PlantStoreError('not_valid', `The first line ${finding}. It must name the columns, as in "id,name,tag"`);
}

/** `toValue` gives undefined for a line to pass over, and throws for one that is wrong. */
function collect({ texts, lines, errors }: Block, toValue: (text: string, at: number) => unknown): PlantBlock {
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

interface Cell {
  text: string;
  quoted: boolean;
}

/** Undefined when they do not come out one for one: then each is read by itself. */
function readAllCells(texts: string[]): Cell[][] | undefined {
  try {
    const rows = readCells(texts);
    return rows.length === texts.length ? rows : undefined;
  } catch {
    return undefined;
  }
}

function readCells(texts: string[]): Cell[][] {
  try {
    return parse(texts.join('\n'), {
      record_delimiter: '\n',
      relax_column_count: true,
      relax_quotes: true,
      cast: (text, { quoting }) => ({ text, quoted: quoting }) as unknown as string,
    }) as unknown as Cell[][];
  } catch (error) {
    throw new PlantStoreError('not_json', `The line is not CSV: ${(error as Error).message}`);
  }
}

/** What is no number stays text, which the schema refuses. */
function readId(text: string): unknown {
  if (!/^-?\d+$/.test(text)) return text;
  return text.length > MAX_ID_CHARS ? Number.POSITIVE_INFINITY : BigInt(text);
}

function isBlank(text: string): boolean {
  return !(text.charCodeAt(0) > 0x20) && text.trim() === '';
}

function printNdjson(plants: NewPlant[]): string {
  return plants.map((plant) => `${printJson(plant)}\n`).join('');
}

/** An empty tag is quoted, no tag is not. */
function printCsv(plants: NewPlant[]): string {
  return stringify(
    plants.map(({ id, name, tag }) => [id.toString(), name, tag ?? null]),
    { quoted_match: /^$|^\s|\s$|\r/ },
  );
}
