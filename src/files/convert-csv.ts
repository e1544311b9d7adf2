// Converts CSV files as Excel and other spreadsheets write them to UTF-8 with commas, which the reader and the API
// require. Also runs in browsers. Every record keeps its line number, and memory is bounded for any input.

import { afterByteOrderMark, concatBytes, inLargeChunks, readFirst, withFirst } from './bytes.ts';
import { type CsvDialect, findByteOrderMark, findDelimiter, findDelimiterLine } from './csv-dialect.ts';
import { CARRIAGE_RETURN, NEWLINE, QUOTE } from './csv-record-end.ts';
import { toCommas } from './csv-to-commas.ts';
import { toUtf8 } from './csv-to-utf8.ts';

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
  const file = await readFirst(inLargeChunks(chunks));
  let encoding = choice.encoding ?? findByteOrderMark(file.first)?.encoding;
  let delimiter: string | undefined;

  const { first, rest } = await readFirst(toUtf8(withFirst(file.first, file.rest), encoding, onWindows1252));
  const head = first.subarray(afterByteOrderMark(first));
  const named = findDelimiterLine(head);
  delimiter = choice.delimiter ?? named?.delimiter ?? findDelimiter(head);
  if (named || delimiter !== ',' || (encoding ?? 'utf-8') !== 'utf-8') tell(delimiter);
  if (named) yield* toCommas(withFirst(moveLine(head, named.line, delimiter), rest), delimiter.charCodeAt(0));
  else if (delimiter !== ',') yield* toCommas(withFirst(head, rest), delimiter.charCodeAt(0));
  else yield* withFirst(first, rest);

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
