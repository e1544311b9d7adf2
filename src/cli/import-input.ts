// The input of an import: a file or standard input, which is converted if a spreadsheet wrote it. The options --delimiter
// and --encoding override what is recognised about it.

import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openAsBlob,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Format, PLANT_FIELDS } from '../domain/names.ts';
import type { CsvChoice } from '../files/convert-csv.ts';
import { DELIMITERS, describeDialect, findColumns } from '../files/csv-dialect.ts';
import { undoAtEnd } from '../lib/undo-at-end.ts';
import { UsageError, UserError } from '../lib/user-error.ts';

const CHUNK_BYTES = 64 * 1024;
export const DELIMITER_NAMES = DELIMITERS.map(({ name }) => name);
/** The encodings that shells complete. */
export const COMMON_ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le'];

export interface CsvOptions {
  delimiter?: string;
  encoding?: string;
}

interface ImportInput {
  chunks: Readable;
  /** Path and size of a plain file. Undefined for standard input, a pipe or a device. */
  file: { path: string; bytes: number } | undefined;
}

/** Throws UserError if there is no such file. */
export function openInput(path: string, stdin: Readable): ImportInput {
  if (path === '-') return { chunks: stdin, file: undefined };
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UserError(`File not found: ${path}`);
  if (stat.isDirectory()) throw new UserError(`${path} is a folder, not a file`);
  const chunks = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  chunks.on('error', () => {}); // who reads it gets the error, possibly later
  return { chunks, file: stat.isFile() ? { path, bytes: stat.size } : undefined };
}

/**
 * Yields a CSV file as the reader and the API require it. Prints how the file was written if it differs from that, and
 * the columns that an import ignores.
 */
export async function* toPlainCsv(
  chunks: AsyncIterable<Uint8Array>,
  choice: CsvChoice,
  printLine: (line: string) => void,
): AsyncGenerator<Uint8Array> {
  const { convertCsv } = await import('../files/convert-csv.ts');
  let isFirst = true;
  for await (const chunk of convertCsv(chunks, choice, (dialect) =>
    printLine(`Read as ${describeDialect(dialect)}.`),
  )) {
    if (isFirst) printIgnored(findColumns(chunk, ','));
    isFirst = false;
    yield chunk;
  }

  function printIgnored(columns: string[]): void {
    const ignored = columns.filter((column) => column !== '' && !PLANT_FIELDS.some((field) => field === column));
    const isHeader = ignored.length <= columns.length - 2; // otherwise the reader rejects it
    if (isHeader && ignored.length > 0) printLine(`Columns not imported: ${ignored.join(', ')}`);
  }
}

/** Runs `work` on all bytes, which one request sends. Anything but a plain file is copied to a temporary one. */
export async function withBlob<T>(
  { chunks, file }: ImportInput,
  bytes: AsyncIterable<Uint8Array>,
  work: (blob: Blob) => Promise<T>,
): Promise<T> {
  if (file) {
    chunks.destroy();
    accessSync(file.path, constants.R_OK); // its error has the reason
    return work(await openAsBlob(file.path));
  }
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-import-'));
  const removeCopy = undoAtEnd(() => rmSync(folder, { recursive: true, force: true }));
  try {
    const copy = join(folder, 'plants');
    await pipeline(bytes, createWriteStream(copy, { mode: 0o600 }));
    return await work(await openAsBlob(copy));
  } finally {
    removeCopy();
  }
}

/** Returns the parts of the dialect that the options give. Throws UsageError. */
export function readCsvChoice({ delimiter, encoding }: CsvOptions, format: Format): CsvChoice {
  if (format !== 'csv' && (delimiter ?? encoding) !== undefined) {
    const option = delimiter === undefined ? '--encoding' : '--delimiter';
    throw new UsageError(`${option} applies to CSV, and the format is ${format}. Add --format csv if the file is CSV.`);
  }
  return {
    delimiter: delimiter === undefined ? undefined : readDelimiter(delimiter),
    encoding: encoding === undefined ? undefined : readEncoding(encoding),
  };
}

function readDelimiter(text: string): string {
  const known = DELIMITERS.find(({ name }) => name === text)?.delimiter ?? (text === '\\t' ? '\t' : text);
  if (/^[\t -~]$/.test(known) && known !== '"') return known;
  const wanted = `${DELIMITER_NAMES.join(', ')} or one ASCII character`;
  throw new UsageError(`--delimiter must be ${wanted}, not ${JSON.stringify(text)}`);
}

/** Returns the standard name of an encoding, such as `windows-1252` for `latin1`. */
function readEncoding(text: string): string {
  try {
    return new TextDecoder(text).encoding;
  } catch {
    const wanted = `the name of an encoding, such as ${COMMON_ENCODINGS.join(', ')} or iso-8859-2`;
    throw new UsageError(`--encoding must be ${wanted}, not ${JSON.stringify(text)}`);
  }
}
