// Splits the bytes of a file into records, each with the number of its first line. Memory is bounded for any input.

import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '../domain/errors.ts';
import type { ImportError } from '../domain/plant.ts';
import { paced } from '../lib/event-loop-turns.ts';
import { afterByteOrderMark } from './bytes.ts';
import {
  CARRIAGE_RETURN,
  countNewlines,
  createEndOfQuoted,
  MAX_RECORD_BYTES,
  NEWLINE,
  NOT_CSV,
} from './csv-record-end.ts';

/** Minimum number of bytes to parse. Smaller chunks are collected first. */
const READ_AT_ONCE_BYTES = 64 * 1024;
/** Limits on a block: to read it takes some milliseconds, whatever it contains. */
const MAX_RECORDS = 1000;
const MAX_BLOCK_BYTES = 32 * 1024;

const NOT_UTF8 = new PlantStoreError('not_json', 'The line is not UTF-8. Save the file as UTF-8.');
const UNCLOSED = new PlantStoreError(
  'not_json',
  'The line is not CSV: a quotation mark is not closed, or text follows the closing one',
);
const TOO_LONG = new PlantStoreError('body_too_large', `The line is longer than ${MAX_RECORD_BYTES} bytes`);

/** A part of a file: some records. */
export interface Block {
  /** The records as text. */
  texts: string[];
  /** Line number of each text, counted from 1. */
  lines: number[];
  errors: ImportError[];
  /** The bytes of these records. */
  bytes: Uint8Array;
}

/**
 * Yields the records of a file. With `quotes`, a line feed between quotation marks belongs to the record, as in CSV.
 */
export async function* readRecords(chunks: AsyncIterable<Uint8Array>, quotes = false): AsyncGenerator<Block> {
  let rest: Uint8Array = new Uint8Array(0);
  let isFirst = true;
  let line = 1;
  let dropping = false;

  let collected: Uint8Array[] = [];
  let collectedBytes = 0;
  for await (const chunk of paced(chunks)) {
    collected.push(chunk);
    collectedBytes += chunk.length;
    if (collectedBytes < wanted(rest.length)) continue;
    yield* read(Buffer.concat([rest, ...collected]));
    collected = [];
    collectedBytes = 0;
  }
  const last = Buffer.concat([rest, ...collected, Buffer.of(NEWLINE)]);
  if (last.length > 1) yield* read(last, true);

  function* read(bytes: Buffer, isLast = false): Generator<Block> {
    const allUtf8 = isUtf8(bytes);
    const endOfRecord = quotes ? createEndOfQuoted(bytes) : (start: number) => bytes.indexOf(NEWLINE, start);
    let at = dropping ? afterDropped(bytes) : 0;
    if (isFirst) at = afterByteOrderMark(bytes);
    isFirst = false;
    for (let isComplete = true; isComplete && at < bytes.length; ) {
      const block: Block = { texts: [], lines: [], errors: [], bytes };
      const start = at;
      while (at < bytes.length && at - start < MAX_BLOCK_BYTES && sizeOf(block) < MAX_RECORDS) {
        const end = endOfRecord(at);
        const firstEnd = end === NOT_CSV ? bytes.indexOf(NEWLINE, at) : end;
        isComplete = firstEnd !== -1 || isLast || bytes.length - at > MAX_RECORD_BYTES;
        if (!isComplete) break;
        at = end < 0 ? skipLine(block, bytes, at) : take(block, bytes, at, end, allUtf8);
      }
      if (at > start) yield { ...block, bytes: bytes.subarray(start, at) };
    }
    rest = bytes.subarray(at);
  }

  function take(block: Block, bytes: Buffer, at: number, end: number, allUtf8: boolean): number {
    if (end - at > MAX_RECORD_BYTES) block.errors.push({ line, error: TOO_LONG });
    else if (!allUtf8 && !isUtf8(bytes.subarray(at, end))) block.errors.push({ line, error: NOT_UTF8 });
    else {
      block.texts.push(bytes.toString('utf8', at, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end));
      block.lines.push(line);
    }
    line += quotes ? countNewlines(bytes, at, end) + 1 : 1;
    return end + 1;
  }

  /** Skips only the first line of a record without an end, so that an unclosed quotation mark costs no other line. */
  function skipLine(block: Block, bytes: Buffer, at: number): number {
    const end = bytes.indexOf(NEWLINE, at);
    block.errors.push({ line, error: end === -1 ? TOO_LONG : UNCLOSED });
    if (end === -1) {
      dropping = true;
      return bytes.length;
    }
    line++;
    return end + 1;
  }

  function afterDropped(bytes: Buffer): number {
    const end = bytes.indexOf(NEWLINE);
    if (end === -1) return bytes.length;
    dropping = false;
    line++;
    return end + 1;
  }
}

function sizeOf({ texts, errors }: Block): number {
  return texts.length + errors.length;
}

/** Number of bytes to collect behind an incomplete record. It is read from its start again, so its length must double. */
function wanted(incompleteBytes: number): number {
  return Math.max(READ_AT_ONCE_BYTES, Math.min(incompleteBytes, MAX_RECORD_BYTES - incompleteBytes));
}
