// Converts CSV files as Excel and other spreadsheets write them to UTF-8 with commas, which the reader and the API
// require. Also runs in browsers. Every record keeps its line number, and memory is bounded for any input.

import { concatBytes, inLargeChunks } from './bytes.ts';
import { type CsvDialect, findByteOrderMark, findDelimiter, findDelimiterLine } from './csv-dialect.ts';
import { CARRIAGE_RETURN, NEWLINE, QUOTE } from './csv-record-end.ts';
import { toCommas } from './csv-to-commas.ts';
import { toUtf8 } from './csv-to-utf8.ts';

/** Minimum size of the chunks that are converted, and in which the dialect is recognised. The last can be smaller. */
const CHUNK_BYTES = 64 * 1024;

/** The parts of a dialect that the user knows. They are not recognised. */
export interface CsvChoice {
  delimiter?: string | undefined;
  encoding?: string | undefined;
}

/**
 * Yields the file as UTF-8 with commas. `onRecognised` receives the dialect if it differs from that: before the first
 * chunk, and again when the first lines in another encoding come later.
 */
export async function* convertCsv(
  chunks: AsyncIterable<Uint8Array>,
  choice: CsvChoice,
  onRecognised: (dialect: CsvDialect) => void,
): AsyncGenerator<Uint8Array> {
  const file = await readFirst(inLargeChunks(chunks, CHUNK_BYTES));
  let encoding = choice.encoding ?? findByteOrderMark(file.first)?.encoding;
  let delimiter: string | undefined;

  const { first, rest } = await readFirst(toUtf8(join(file.first, file.rest), encoding, onWindows1252));
  const head = first.subarray(findByteOrderMark(first)?.mark.length ?? 0);
  const named = findDelimiterLine(head);
  delimiter = choice.delimiter ?? named?.delimiter ?? findDelimiter(head);
  if (named || delimiter !== ',' || (encoding ?? 'utf-8') !== 'utf-8') tell(delimiter);
  if (named) yield* toCommas(join(moveLine(head, named.line, delimiter), rest), delimiter.charCodeAt(0));
  else if (delimiter !== ',') yield* toCommas(join(head, rest), delimiter.charCodeAt(0));
  else yield* join(first, rest);

  function onWindows1252(): void {
    if (encoding !== undefined) return;
    encoding = 'windows-1252';
    if (delimiter !== undefined) tell(delimiter);
  }

  function tell(known: string): void {
    onRecognised({ delimiter: known, encoding: encoding ?? 'utf-8' });
  }
}

/**
 * Returns the beginning of a file without its first line. The first name of the header row starts with a line end
 * instead, so that all lines keep their numbers. The reader trims the names of columns.
 */
function moveLine(head: Uint8Array, line: string, delimiter: string): Uint8Array {
  const header = head.subarray(line.length);
  if (header[0] === QUOTE) return concatBytes([encode('"\n'), header.subarray(1)]);
  const ends = [delimiter.charCodeAt(0), CARRIAGE_RETURN, NEWLINE];
  const end = header.findIndex((byte) => ends.includes(byte));
  const name = end === -1 ? header : header.subarray(0, end);
  const text = new TextDecoder().decode(name).replaceAll('"', '""');
  return concatBytes([encode(`"\n${text}"`), header.subarray(name.length)]);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Reads the first chunk, which is empty at the end of the file. */
async function readFirst(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ first: Uint8Array; rest: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]();
  const { value, done } = await iterator.next();
  return { first: done ? new Uint8Array(0) : value, rest: { [Symbol.asyncIterator]: () => iterator } };
}

async function* join(first: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first;
  yield* rest;
}
