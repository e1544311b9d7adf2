// Bytes of a file → its records as text, each with the number of the line that it begins on. A record that cannot be
// read is named and passed over. Memory stays flat, whatever comes.

import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from './error.ts';
import type { ImportError } from './plant.ts';

export const MAX_RECORD_BYTES = 64 * 1024;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const COMMA = 0x2c;

export interface Block {
  texts: string[];
  /** Of each text, counted from 1. */
  lines: number[];
  errors: ImportError[];
  /** All that was read for it; the end of it may belong to the next block. */
  bytes: Uint8Array;
}

/** With `quotes` a line feed between quotation marks belongs to the record, as in CSV. */
export async function* readRecords(chunks: AsyncIterable<Uint8Array>, quotes = false): AsyncGenerator<Block> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let dropping = false;

  for await (const chunk of chunks) {
    yield read(
      rest.length === 0 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length) : Buffer.concat([rest, chunk]),
    );
  }
  if (rest.length > 0) yield read(Buffer.concat([rest, Buffer.of(NEWLINE)]), true);

  function read(bytes: Buffer, isLast = false): Block {
    const block: Block = { texts: [], lines: [], errors: [], bytes };
    const allUtf8 = isUtf8(bytes);
    let at = 0;
    if (dropping) {
      at = bytes.indexOf(NEWLINE) + 1;
      dropping = at === 0;
      if (dropping) at = bytes.length;
      else line++;
    }
    if (!quotes && allUtf8) at = readLines(block, bytes, at);
    while (at < bytes.length) {
      let end = quotes ? endOfQuoted(bytes, at) : bytes.indexOf(NEWLINE, at);
      const isCut = end === -1 || (end === NOT_CSV && bytes.indexOf(NEWLINE, at) === -1);
      if (isCut && !isLast && bytes.length - at <= MAX_RECORD_BYTES) break; // the rest of it is to come
      if (end < 0 || end - at > MAX_RECORD_BYTES) {
        end = giveUp(block, bytes, at, end);
      } else if (allUtf8 || isUtf8(bytes.subarray(at, end))) {
        const text = bytes.toString('utf8', at, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end);
        block.texts.push(text);
        block.lines.push(line);
        line += quotes ? countLines(text) : 1;
      } else {
        block.errors.push({ line: line++, error: new PlantStoreError('not_json', 'The line is not UTF-8') });
      }
      at = end + 1;
    }
    rest = bytes.subarray(at);
    return block;
  }

  /** All whole lines at once, which is quicker. Gives where they end. */
  function readLines(block: Block, bytes: Buffer, start: number): number {
    const end = bytes.lastIndexOf(NEWLINE);
    if (end < start) return start;
    for (const text of bytes.toString('utf8', start, end).split('\n')) {
      if (text.length > MAX_RECORD_BYTES / 3 && Buffer.byteLength(text) > MAX_RECORD_BYTES) {
        block.errors.push({ line: line++, error: lineTooLong() });
        continue;
      }
      block.texts.push(text.endsWith('\r') ? text.slice(0, -1) : text);
      block.lines.push(line++);
    }
    return end + 1;
  }

  /** Only the first line is given up: an open quotation mark must not take the others with it. */
  function giveUp(block: Block, bytes: Buffer, at: number, recordEnd: number): number {
    const end = bytes.indexOf(NEWLINE, at);
    const isOpen = end !== -1 && end !== recordEnd;
    const error = isOpen
      ? new PlantStoreError(
          'not_json',
          'The line is not CSV: a quotation mark is not closed, or not the last of its cell',
        )
      : lineTooLong();
    block.errors.push({ line, error });
    if (end === -1) {
      dropping = true;
      return bytes.length;
    }
    line++;
    return end;
  }
}

function lineTooLong(): PlantStoreError {
  return new PlantStoreError('body_too_large', `The line is over ${MAX_RECORD_BYTES} bytes`);
}

/** The quotation mark that closes a cell is not the last of it. */
const NOT_CSV = -2;

/** A quotation mark counts at the beginning of a cell only; in a quoted cell two of them stand for one. -1: not yet. */
function endOfQuoted(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(NEWLINE, start);
  let at = start;
  for (;;) {
    const open = bytes.indexOf(QUOTE, at);
    if (open === -1 || (end !== -1 && open > end)) return end;
    const before = bytes[open - 1];
    if (open !== start && before !== COMMA) {
      at = open + 1;
      continue;
    }
    const close = endOfCell(bytes, open + 1);
    if (close === -1 || close + 1 === bytes.length) return -1;
    if (![COMMA, NEWLINE, CARRIAGE_RETURN].includes(bytes[close + 1] as number)) return NOT_CSV;
    at = close + 1;
    if (end < close) end = bytes.indexOf(NEWLINE, close);
  }
}

function endOfCell(bytes: Buffer, start: number): number {
  for (let at = start; ; at += 2) {
    at = bytes.indexOf(QUOTE, at);
    if (at === -1 || bytes[at + 1] !== QUOTE) return at;
  }
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}
