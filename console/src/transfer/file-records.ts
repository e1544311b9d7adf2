// Reads the records of a file of plants in the browser, with the line numbers that the server reports.

import type { FileType } from 'plant-store/client';
import { cutFile } from '../../../src/client/file-pieces.ts';
import { afterByteOrderMark, firstCharacter } from '../../../src/files/bytes.ts';
import { CARRIAGE_RETURN, countNewlines, createEndOfQuoted, NEWLINE } from '../../../src/files/csv-record-end.ts';

/** Number of records that are checked at once, and from which the preview is made. */
const HEAD_RECORDS = 1000;
const BRACE = 0x7b;
/** Number of bytes in which a zero means that the file is no text. */
const SNIFFED_BYTES = 1000;
/** Number of bytes that are searched for the first character. */
const SEARCHED_BYTES = 64 * 1024;

export interface FileRecord {
  /** Number of its first line. */
  line: number;
  text: string;
}

/** The beginning of a file. */
export interface FileHead {
  type: FileType;
  /** The first line of a CSV file, which names the columns. `lines` is more than 1 if a name contains a line end. */
  header: { text: string; end: number; lines: number } | undefined;
  /** The first records after the header. */
  records: FileRecord[];
  /** Number of bytes up to the end of the last of `records`. */
  bytes: number;
}

/** True if the file is NDJSON: by its name, or because its first character is `{`. */
export async function isNdjson(file: Blob, name: string): Promise<boolean> {
  if (isNdjsonName(name)) return true;
  const bytes = new Uint8Array(await file.slice(0, SEARCHED_BYTES).arrayBuffer());
  return firstCharacter(bytes) === BRACE;
}

/** Reads the beginning of a file. Throws an error for the user if the file cannot hold plants. */
export async function readHead(file: Blob, name: string): Promise<FileHead> {
  const first = await cutFile(file, !isNdjsonName(name)).next();
  const bytes = new Uint8Array(await (first.value?.body ?? new Blob()).arrayBuffer());
  const begin = firstCharacter(bytes);
  if (begin === undefined) throw new Error('The file is empty. Choose another.');
  if (bytes.subarray(0, SNIFFED_BYTES).includes(0))
    throw new Error('This is not a text file in UTF-8. Save it as CSV or NDJSON in UTF-8.');
  const isCsv = begin !== BRACE && !isNdjsonName(name);
  return { type: isCsv ? 'text/csv' : 'application/x-ndjson', ...splitHead(bytes, isCsv) };
}

/** Finds the records that start at these lines, up to the last one. */
export async function findRecords(file: Blob, type: FileType, lines: Iterable<number>): Promise<FileRecord[]> {
  const wanted = new Set(lines);
  const found: FileRecord[] = [];
  for await (const { body, linesBefore } of cutFile(file, type === 'text/csv')) {
    const bytes = new Uint8Array(await body.arrayBuffer());
    for (const record of splitRecords(bytes, type === 'text/csv', linesBefore)) {
      // Every piece of a CSV file repeats the header, with line numbers that were seen before.
      if (wanted.delete(record.line)) found.push({ line: record.line, text: decode(bytes, record) });
    }
    if (wanted.size === 0) break;
  }
  return found;
}

interface Range {
  line: number;
  lines: number;
  start: number;
  end: number;
}

function splitHead(bytes: Uint8Array, isCsv: boolean): Omit<FileHead, 'type'> {
  const records: FileRecord[] = [];
  let header: FileHead['header'];
  let end = 0;
  for (const range of splitRecords(bytes, isCsv, 0)) {
    if (records.length === HEAD_RECORDS) break;
    end = Math.min(bytes.length, range.end + 1);
    const text = decode(bytes, range);
    if (isCsv && !header) header = { text, end: Math.min(bytes.length, range.end), lines: range.lines };
    else if (text.trim() !== '') records.push({ line: range.line, text });
  }
  return { header, records, bytes: end };
}

/** Yields the records. Like the server, it takes only the first line of a record with an unclosed quotation mark. */
function* splitRecords(bytes: Uint8Array, isCsv: boolean, linesBefore: number): Generator<Range> {
  const ended = new Uint8Array(bytes.length + 1);
  ended.set(bytes);
  ended[bytes.length] = NEWLINE;
  const endOfQuoted = isCsv ? createEndOfQuoted(ended) : () => -1;
  let line = linesBefore + 1;
  let start = linesBefore === 0 ? afterByteOrderMark(bytes) : 0;
  while (start < bytes.length) {
    const quotedEnd = endOfQuoted(start);
    const end = quotedEnd >= 0 ? quotedEnd : ended.indexOf(NEWLINE, start);
    const lines = countNewlines(ended, start, end) + 1;
    yield { line, lines, start, end };
    line += lines;
    start = end + 1;
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function decode(bytes: Uint8Array, { start, end }: Range): string {
  return decoder.decode(bytes.subarray(start, bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end));
}

function isNdjsonName(name: string): boolean {
  return /\.(ndjson|jsonl)$/i.test(name);
}
