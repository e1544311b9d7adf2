// Reads and prints plants as CSV with the header row id,name,tag.

import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { PlantStoreError } from '../domain/errors.ts';
import { PLANT_FIELDS } from '../domain/names.ts';
import type { NewPlant } from '../domain/plant.ts';
import { endOfCell } from './csv-cells.ts';
import { NEWLINE } from './csv-record-end.ts';
import { collectPlants, isBlank, MAX_CROWDED_CHARS, MAX_VALUES, type PlantBlock } from './plant-block.ts';
import { type Block, readRecords } from './split-records.ts';

/** The header row of an export. */
export const CSV_HEADER = `${PLANT_FIELDS.join(',')}\n`;
const MAX_HEADER_SHOWN = 100;
const HEADER_ADVICE = 'The first line must name the columns, such as "id,name,tag".';
/** Maximum length of an id. A longer number cannot be an id and is slow to parse. */
const MAX_ID_CHARS = 100;
/** A number of more digits than a cell of a spreadsheet shows or keeps. */
const ROUNDED = /^-?\d(?:[.,]\d{1,15})?E\+\d{1,3}$/i;

/**
 * Yields the plants of a CSV file. Throws if the header row does not name the columns, or if the file ends within its
 * first line.
 */
export async function* readCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<PlantBlock> {
  let read: ((block: Block) => PlantBlock) | undefined;
  let rows = 0;
  let lastByte: number | undefined;
  for await (const block of readRecords(withLastByte(chunks), true)) {
    if (!read) {
      const [fault] = block.errors;
      if (fault?.line === 1) throw new PlantStoreError('not_valid', `${HEADER_ADVICE} ${fault.error.message}`);
      read = createReadBlock(block.texts.shift() ?? '');
      block.lines.shift();
    }
    rows += block.texts.length + block.errors.length;
    yield read(block);
  }
  if (lastByte === undefined) throw new PlantStoreError('not_json', `The file is empty. ${HEADER_ADVICE}`);
  if (rows === 0 && lastByte !== NEWLINE) {
    const advice = 'If it has more lines, the line ends were lost: with curl, use --data-binary @FILE instead of -d.';
    throw new PlantStoreError('not_json', `The file ends after its first line and contains no plant. ${advice}`);
  }

  async function* withLastByte(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      lastByte = chunk.at(-1) ?? lastByte;
      yield chunk;
    }
  }
}

/** Returns the plants as CSV. An empty tag is quoted, and a missing tag is an empty cell without quotation marks. */
export function printCsv(plants: NewPlant[]): string {
  return stringify(
    plants.map(({ id, name, tag }) => [id.toString(), name, tag ?? null]),
    { quoted_match: /^$|^\s|\s$|\r/ },
  );
}

function createReadBlock(header: string): (block: Block) => PlantBlock {
  const columns = readHeader(header);
  const [idAt, nameAt, tagAt] = PLANT_FIELDS.map((field) => columns.indexOf(field)) as [number, number, number];
  return (block) => {
    const rows = block.texts.some(hasTooManyCells) ? undefined : readAllCells(block.texts);
    return collectPlants(block, (text, at) => {
      if (isBlank(text)) return undefined;
      if (!rows && hasTooManyCells(text)) {
        throw new PlantStoreError(
          'body_too_large',
          `The line has more than ${MAX_CROWDED_CHARS} characters and more than ${MAX_VALUES} cells`,
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

/** True for a long line with too many cells. Parsing it would block other requests for too long. */
function hasTooManyCells(text: string): boolean {
  if (text.length <= MAX_CROWDED_CHARS) return false;
  let cells = 0;
  for (let at = 0; at <= text.length; at = endOfCell(text, at, ',') + 1) if (++cells > MAX_VALUES) return true;
  return false;
}

function readHeader(header: string): string[] {
  if (hasTooManyCells(header)) {
    throw new PlantStoreError('not_valid', `The first line has over ${MAX_VALUES} columns. ${HEADER_ADVICE}`);
  }
  const columns = (readCells([header])[0] ?? []).map(({ text }) => text.trim().toLowerCase());
  const missing = ['id', 'name'].find((column) => !columns.includes(column));
  const twice = PLANT_FIELDS.find((column) => columns.indexOf(column) !== columns.lastIndexOf(column));
  if (!missing && !twice) return columns;
  const separator = columns.length === 1 ? /[;\t]/.exec(header)?.[0] : undefined;
  const finding = separator
    ? `is separated by ${JSON.stringify(separator)}. Save the file with commas, or import it with the command or the console, which convert it`
    : header.includes('\0')
      ? 'is not UTF-8 (it may be UTF-16). Save the file as UTF-8'
      : missing
        ? `has no column "${missing}" (it has: ${columns.join(', ').slice(0, MAX_HEADER_SHOWN)})`
        : `has the column "${twice}" twice`;
  throw new PlantStoreError('not_valid', `The first line ${finding}. ${HEADER_ADVICE}`);
}

interface Cell {
  text: string;
  quoted: boolean;
}

/** Returns one row per text, or undefined if the numbers differ. Then each text must be parsed on its own. */
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

/** Returns the id as a bigint. Other text is returned unchanged, and the schema rejects it. */
function readId(text: string): unknown {
  if (ROUNDED.test(text)) {
    const advice = 'A spreadsheet rounded it: save that column as text';
    throw new PlantStoreError('not_valid', `"id" must be an integer, not ${text}. ${advice}`);
  }
  if (!/^-?\d+$/.test(text)) return text;
  return text.length > MAX_ID_CHARS ? Number.POSITIVE_INFINITY : BigInt(text);
}
