// Converts a file of a spreadsheet in the browser to the file that the server reads.

import { readBlob } from '../../../src/files/bytes.ts';
import { type CsvChoice, convertCsv } from '../../../src/files/convert-csv.ts';
import type { CsvDialect } from '../../../src/files/csv-dialect.ts';
import { isNdjson } from './file-records.ts';

const READ_BYTES = 1024 * 1024;

export interface PlainFile {
  /** The file as UTF-8 with commas: the given one if it is plain. */
  file: Blob;
  /** How the given file is written. Undefined for NDJSON. */
  dialect: CsvDialect | undefined;
}

/** Recognises how a file is written and converts it. A part of `choice` overrides what is recognised. */
export async function toPlainFile(source: Blob, name: string, choice: CsvChoice = {}): Promise<PlainFile> {
  if (await isNdjson(source, name)) return { file: source, dialect: undefined };
  let dialect: CsvDialect = { delimiter: ',', encoding: 'utf-8' };
  let isPlain = true;
  const convert = () =>
    convertCsv(readBlob(source, READ_BYTES), choice, (recognised) => {
      dialect = recognised;
      isPlain = false;
    });
  for await (const _ of convert()) if (!isPlain) break; // most files are plain, and need no copy
  if (isPlain) return { file: source, dialect };
  const parts: Blob[] = [];
  for await (const chunk of convert()) parts.push(new Blob([chunk as Uint8Array<ArrayBuffer>]));
  return { file: new Blob(parts, { type: 'text/csv' }), dialect };
}
