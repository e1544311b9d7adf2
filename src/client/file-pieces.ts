// Splits a file of plants at ends of records, so that importing the pieces gives the same result as importing the file.
// Only a few pieces are in memory at a time.

import { afterByteOrderMark, concatBytes, inLargeChunks, readBlob } from '../files/bytes.ts';
import { countNewlines, createEndOfQuoted, MAX_RECORD_BYTES, NEWLINE, NOT_CSV } from '../files/csv-record-end.ts';

const READ_BYTES = 1024 * 1024;
/** Number of bytes sent of a line that is too long: enough for the server to reject it. */
const SHOWN_BYTES = MAX_RECORD_BYTES + 256 * 1024;
const LINE_END = Uint8Array.of(NEWLINE);

type Bytes = Uint8Array<ArrayBuffer>;

/** A part of a file that can be imported on its own. */
export interface Piece {
  body: Blob;
  /** Number to add to a line number of the piece to get the line number in the file. */
  linesBefore: number;
  /** Number of bytes of the file up to the end of the piece. */
  bytes: number;
}

/** A file, or the bytes of one as they arrive. */
export type FileBytes = Blob | AsyncIterable<Uint8Array>;

/** Yields the pieces of a file: at least one, even if the file is empty. Every CSV piece starts with the header row. */
export async function* cutFile(file: FileBytes, isCsv: boolean, readBytes = READ_BYTES): AsyncGenerator<Piece> {
  const chunks = file instanceof Blob ? readBlob(file, readBytes) : inLargeChunks(file, readBytes);
  let ahead = await chunks.next();
  let header: Bytes | undefined;
  let rest: Bytes = new Uint8Array(0);
  let read = 0;
  let lines = 0;
  let isFirst = true;

  while (isFirst || rest.length > 0 || !ahead.done) {
    const next = await readNext();
    const bytes = rest.length === 0 ? next : concatBytes([rest, next]);
    const end = endOfRecords(bytes);
    const records = bytes.subarray(0, end);
    const parts = [records];
    rest = bytes.subarray(end);
    const isTooLong = isWithoutEnd(rest);
    if (isTooLong) {
      parts.push(rest.subarray(0, SHOWN_BYTES), LINE_END);
      rest = await skipLine();
    }
    if (end === 0 && !isTooLong && !ahead.done) continue;

    // In NDJSON a leading empty line keeps U+FEFF in the middle of the file from becoming a byte order mark.
    const before = isFirst ? [] : header ? [header] : isCsv ? [] : [LINE_END];
    yield {
      body: new Blob([...before, ...parts]),
      linesBefore: lines - before.reduce((sum, part) => sum + countNewlines(part), 0),
      bytes: read - rest.length,
    };
    if (isCsv) header ??= findHeader(records, isFirst);
    lines += countNewlines(records) + (isTooLong ? 1 : 0);
    isFirst = false;
  }

  async function readNext(): Promise<Bytes> {
    if (ahead.done) return new Uint8Array(0);
    const chunk = ahead.value;
    read += chunk.length;
    ahead = await chunks.next();
    return chunk;
  }

  /** Reads to the end of the line and returns the bytes read after it. */
  async function skipLine(): Promise<Bytes> {
    while (!ahead.done) {
      const chunk = await readNext();
      const end = chunk.indexOf(NEWLINE);
      if (end !== -1) return chunk.subarray(end + 1);
    }
    return new Uint8Array(0);
  }

  /** Returns the end of the last complete record. */
  function endOfRecords(bytes: Bytes): number {
    if (ahead.done) return bytes.length;
    if (!isCsv) return bytes.lastIndexOf(NEWLINE) + 1;
    const endOfRecord = createEndOfQuoted(bytes);
    let last = 0;
    for (let at = isFirst ? afterByteOrderMark(bytes) : 0; ; at = last) {
      const end = nextEnd(bytes, at, endOfRecord);
      if (end === -1) return last;
      last = end + 1;
    }
  }
}

/** Returns the end of the next record, or -1. Like the server, it skips only the first line of a malformed record. */
function nextEnd(bytes: Uint8Array, at: number, endOfRecord: (start: number) => number): number {
  const end = endOfRecord(at);
  if (end >= 0) return end;
  const mayContinue = end !== NOT_CSV && bytes.length - at <= MAX_RECORD_BYTES;
  return mayContinue ? -1 : bytes.indexOf(NEWLINE, at);
}

function isWithoutEnd(bytes: Bytes): boolean {
  return bytes.length > SHOWN_BYTES && !bytes.includes(NEWLINE);
}

/** Returns the first valid record, including its line end. */
function findHeader(bytes: Bytes, isFirst: boolean): Bytes | undefined {
  const endOfRecord = createEndOfQuoted(bytes);
  for (let at = isFirst ? afterByteOrderMark(bytes) : 0; at < bytes.length; ) {
    const end = endOfRecord(at);
    const record = bytes.slice(at, end + 1);
    if (end >= 0 && end - at <= MAX_RECORD_BYTES && isUtf8(record)) return record;
    const next = end < 0 ? bytes.indexOf(NEWLINE, at) : end;
    if (next === -1) return undefined;
    at = next + 1;
  }
  return undefined;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
