// Recognises the delimiter and the encoding of a CSV file from its first bytes. Also runs in browsers.

import { BYTE_ORDER_MARK } from './bytes.ts';
import { splitCells } from './csv-cells.ts';
import { createEndOfQuoted, NEWLINE } from './csv-record-end.ts';

/** How a CSV file is written. */
export interface CsvDialect {
  delimiter: string;
  /** A name that TextDecoder has for the encoding. */
  encoding: string;
}

/** The delimiters that are recognised, each with its name and its plural. The first one wins if two fit equally. */
export const DELIMITERS = [
  { delimiter: ',', name: 'comma', names: 'commas' },
  { delimiter: ';', name: 'semicolon', names: 'semicolons' },
  { delimiter: '\t', name: 'tab', names: 'tabs' },
] as const;

/** A first line such as `sep=;`, which Excel reads and hides. */
const DELIMITER_LINE = /^"?sep=([\t -~])"?\r?(?:\n|$)/i;
const BYTE_ORDER_MARKS = [
  { mark: BYTE_ORDER_MARK, encoding: 'utf-8' },
  { mark: [0xff, 0xfe], encoding: 'utf-16le' },
  { mark: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/** Returns the byte order mark at the beginning of a file and the encoding that it stands for, if there is one. */
export function findByteOrderMark(head: Uint8Array): (typeof BYTE_ORDER_MARKS)[number] | undefined {
  return BYTE_ORDER_MARKS.find(({ mark }) => mark.every((byte, at) => head[at] === byte));
}

/** Returns the line that names the delimiter, if the file starts with one. */
export function findDelimiterLine(head: Uint8Array): { delimiter: string; line: string } | undefined {
  const [line, delimiter] = DELIMITER_LINE.exec(decode(head.subarray(0, 10))) ?? [];
  return line === undefined || delimiter === undefined ? undefined : { line, delimiter };
}

/**
 * Returns the delimiter of a header row: the one that gives the columns id and name, or else the most columns. The row
 * is the first record of `head`, which is UTF-8.
 */
export function findDelimiter(head: Uint8Array): string {
  let best = { delimiter: ',', score: 0 };
  for (const { delimiter } of DELIMITERS) {
    const names = findColumns(head, delimiter);
    const score = ['id', 'name'].every((name) => names.includes(name)) ? Number.POSITIVE_INFINITY : names.length;
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Returns the names of the columns in lower case, from the first record of `head`, which is UTF-8. */
export function findColumns(head: Uint8Array, delimiter: string): string[] {
  const ended = new Uint8Array(head.length + 1);
  ended.set(head);
  ended[head.length] = NEWLINE;
  const end = createEndOfQuoted(ended, delimiter.charCodeAt(0))(0);
  const header = decode(ended.subarray(0, end < 0 ? ended.indexOf(NEWLINE) : end));
  return splitCells(header.replace(/\r$/, ''), delimiter).map(({ text }) => text.trim().toLowerCase());
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Returns words such as `CSV with semicolons in Windows-1252`. UTF-8 is not mentioned. */
export function describeDialect({ delimiter, encoding }: CsvDialect): string {
  const names = DELIMITERS.find((known) => known.delimiter === delimiter)?.names ?? JSON.stringify(delimiter);
  return `CSV with ${names}${encoding === 'utf-8' ? '' : ` in ${encodingName(encoding)}`}`;
}

/** Returns the name of an encoding as people write it, such as `UTF-8` and `Windows-1252`. */
export function encodingName(encoding: string): string {
  return encoding.toUpperCase().replace('WINDOWS', 'Windows');
}
