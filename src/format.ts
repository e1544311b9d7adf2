// Plants in a file: NDJSON, one JSON object a line, or CSV with the header row id,name,tag. Read block by block with
// what is wrong and where, printed block by block.

import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { check, readJson } from './check.ts';
import { PlantStoreError } from './error.ts';
import { isExactAnyway, isNestedTooDeep, printJson } from './json.ts';
import { type ImportError, NewPlant } from './plant.ts';
import { type Block, readRecords } from './records.ts';

export const FORMATS = ['ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

const COLUMNS = ['id', 'name', 'tag'] as const;
const PRINTED_AT_ONCE = 500;

export interface PlantBlock {
  plants: NewPlant[];
  /** Of each plant. */
  lines: number[];
  errors: ImportError[];
}

/** Throws `not_valid` when the header row of a CSV file does not name the columns; all else is an error of its line. */
export async function* readPlants(format: Format, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  let read = format === 'csv' ? undefined : readNdjson;
  for await (const block of readRecords(chunks, format === 'csv')) {
    if (!read) {
      const header = block.texts.shift();
      if (header === undefined) continue;
      block.lines.shift();
      read = createReadCsv(header);
    }
    yield read(block);
  }
}

export async function* printPlants(format: Format, plants: AsyncIterable<NewPlant>): AsyncGenerator<string> {
  if (format === 'csv') yield `${COLUMNS.join(',')}\n`;
  const print = format === 'csv' ? printCsv : printNdjson;
  let waiting: NewPlant[] = [];
  for await (const plant of plants) {
    if (waiting.push(plant) < PRINTED_AT_ONCE) continue;
    yield print(waiting);
    waiting = [];
  }
  if (waiting.length > 0) yield print(waiting);
}

function readNdjson(block: Block): PlantBlock {
  const values = isExactAnyway(block.bytes) ? readAllObjects(block.texts) : undefined;
  if (values) return collect(block, (_text, at) => values[at]);
  return collect(block, (text) => (isBlank(text) ? undefined : readJson(text, 'The line')));
}

/**
 * Parses them in one go, which is quicker. Undefined unless that surely gives the same: there are as many braces as
 * lines, each line begins with one, and as many objects come out.
 */
function readAllObjects(texts: string[]): unknown[] | undefined {
  if (!texts.every((text) => text.lastIndexOf('{') === 0 && !isNestedTooDeep(text))) return undefined;
  try {
    const values = JSON.parse(`[${texts.join(',\n')}]`) as unknown[];
    return values.length === texts.length && values.every(isObject) ? values : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function createReadCsv(header: string): (block: Block) => PlantBlock {
  const columns = readCells([header.replace(/^\uFEFF/, '')])[0]?.map((cell) => cell.text.trim()) ?? [];
  const [idAt, nameAt, tagAt] = COLUMNS.map((column) => columns.indexOf(column)) as [number, number, number];
  if (idAt === -1 || nameAt === -1 || new Set(columns).size < columns.length) {
    throw new PlantStoreError('not_valid', 'The first line must name the columns, as in "id,name,tag"');
  }
  return (block) => {
    const rows = readAllCells(block.texts);
    return collect(block, (text, at) => {
      if (isBlank(text)) return undefined;
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

/** `toValue` gives undefined for a line to pass over, and throws for one that is wrong. */
function collect({ texts, lines, errors }: Block, toValue: (text: string, at: number) => unknown): PlantBlock {
  const block: PlantBlock = { plants: [], lines: [], errors };
  for (let at = 0; at < texts.length; at++) {
    const line = lines[at] as number;
    try {
      const value = toValue(texts[at] as string, at);
      if (value === undefined) continue;
      block.plants.push(check(NewPlant, value, 'The line'));
      block.lines.push(line);
    } catch (error) {
      if (!(error instanceof PlantStoreError)) throw error;
      errors.push({ line, error });
    }
  }
  errors.sort((a, b) => a.line - b.line);
  return block;
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
  return /^-?\d+$/.test(text) ? BigInt(text) : text;
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
