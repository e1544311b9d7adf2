// The options --delimiter and --encoding, which override what is recognised about a CSV file.

import type { Format } from '../domain/names.ts';
import type { CsvChoice } from '../files/convert-csv.ts';
import { DELIMITERS } from '../files/csv-dialect.ts';
import { UsageError } from '../lib/user-error.ts';
import { FixedOption } from './declare.ts';

const DELIMITER_NAMES = DELIMITERS.map(({ name }) => name);
/** The encodings that shells complete. */
const COMMON_ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le'];

export interface CsvOptions {
  delimiter?: string;
  encoding?: string;
}

export function delimiterOption(): FixedOption {
  const description = 'CSV: comma, semicolon, tab or another character (default: recognised)';
  return new FixedOption('--delimiter <character>', description, DELIMITER_NAMES);
}

export function encodingOption(): FixedOption {
  const description = 'CSV: utf-8, windows-1252, utf-16le or another encoding (default: recognised)';
  return new FixedOption('--encoding <name>', description, COMMON_ENCODINGS);
}

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
