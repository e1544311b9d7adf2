// A file of plants, cut at ends of records into pieces that are read as the whole would be. Few are in memory.

import { countLines, createEndOfQuoted, MAX_RECORD_BYTES, NEWLINE, NOT_CSV } from '../files/csv-record-end.ts';

const READ_BYTES = 1024 * 1024;
/** Of a line that is too long, so much that the service surely sees it. */
const SHOWN_BYTES = MAX_RECORD_BYTES + 256 * 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const LINE_END = Uint8Array.of(NEWLINE);

type Bytes = Uint8Array<ArrayBuffer>;

export interface Piece {
  body: Blob;
  /** To add to a line of the piece for its line in the file. */
  linesBefore: number;
  /** Of the file, up to the end of the piece. */
  bytes: number;
}

/** At least one, also of an empty file. In CSV the header row stands before each. */
export async function* cutFile(file: Blob, isCsv: boolean, readBytes = READ_BYTES): AsyncGenerator<Piece> {
  let header: Bytes | undefined;
  let rest: Bytes = new Uint8Array(0);
  let read = 0;
  let lines = 0;
  let isFirst = true;

  while (isFirst || rest.length > 0 || read < file.size) {
    const bytes = concat(rest, await readOn());
    const end = endOfRecords(bytes);
    const records = bytes.subarray(0, end);
    const parts = [records];
    rest = bytes.subarray(end);
    const isTooLong = isWithoutEnd(rest);
    if (isTooLong) {
      parts.push(rest.subarray(0, SHOWN_BYTES), LINE_END);
      rest = await passLine();
    }
    if (end === 0 && !isTooLong && read < file.size) continue;

    const before = isFirst ? [] : header ? [header] : isCsv ? [] : [LINE_END]; // or a byte order mark would be one
    yield {
      body: new Blob([...before, ...parts]),
      linesBefore: lines - before.reduce((sum, part) => sum + newlinesIn(part), 0),
      bytes: read - rest.length,
    };
    if (isCsv) header ??= findHeader(records, isFirst);
    lines += newlinesIn(records) + (isTooLong ? 1 : 0);
    isFirst = false;
  }

  async function readOn(): Promise<Bytes> {
    const chunk = new Uint8Array(await file.slice(read, read + readBytes).arrayBuffer());
    read += chunk.length;
    return chunk;
  }

  /** Gives what was read after it. */
  async function passLine(): Promise<Bytes> {
    while (read < file.size) {
      const chunk = await readOn();
      const end = chunk.indexOf(NEWLINE);
      if (end !== -1) return chunk.subarray(end + 1);
    }
    return new Uint8Array(0);
  }

  /** Of the last one whose end can be told. */
  function endOfRecords(bytes: Bytes): number {
    if (read >= file.size) return bytes.length;
    if (!isCsv) return bytes.lastIndexOf(NEWLINE) + 1;
    const endOfRecord = createEndOfQuoted(bytes);
    let last = 0;
    for (let at = isFirst ? afterMark(bytes) : 0; ; at = last) {
      const end = nextEnd(bytes, at, endOfRecord);
      if (end === -1) return last;
      last = end + 1;
    }
  }
}

/** As the service does it: of what is no record only the first line is given up. */
function nextEnd(bytes: Uint8Array, at: number, endOfRecord: (start: number) => number): number {
  const end = endOfRecord(at);
  if (end >= 0) return end;
  const mayGoOn = end !== NOT_CSV && bytes.length - at <= MAX_RECORD_BYTES;
  return mayGoOn ? -1 : bytes.indexOf(NEWLINE, at);
}

function isWithoutEnd(bytes: Bytes): boolean {
  return bytes.length > SHOWN_BYTES && !bytes.includes(NEWLINE);
}

/** The first record that can be read, with its line end. */
function findHeader(bytes: Bytes, isFirst: boolean): Bytes | undefined {
  const endOfRecord = createEndOfQuoted(bytes);
  for (let at = isFirst ? afterMark(bytes) : 0; at < bytes.length; ) {
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

function afterMark(bytes: Uint8Array): number {
  return BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? BYTE_ORDER_MARK.length : 0;
}

function newlinesIn(bytes: Uint8Array): number {
  return countLines(bytes, 0, bytes.length) - 1;
}

function concat(one: Bytes, other: Bytes): Bytes {
  if (one.length === 0) return other;
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
