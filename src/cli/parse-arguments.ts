// Parses the arguments and options that several commands share, before a command opens or sends anything.

import { FORMATS, type Format } from '../domain/names.ts';
import { UsageError } from '../lib/user-error.ts';
import { FixedOption } from './declare.ts';

const BY_ENDING: Record<string, Format> = { ndjson: 'ndjson', jsonl: 'ndjson', csv: 'csv' };

/** Files that people try, with what to do instead. */
const OTHER_FILES = [
  {
    ending: /\.(xlsx?|xlsm|ods|numbers)$/i,
    advice: 'Plant Store reads and writes no workbooks. Use CSV, which every spreadsheet program opens and saves.',
  },
  {
    ending: /\.(gz|zip|zst|xz|bz2)$/i,
    advice: 'Plant Store reads and writes no compressed files. Use gzip in a pipe, with - as the file.',
  },
];

export function formatOption(): FixedOption {
  const description = 'ndjson or csv (default: by file extension; ndjson for -)';
  return new FixedOption('--format <format>', description, FORMATS);
}

/** Returns the format of a file. `csvEndings` are further extensions of CSV files. */
export function chooseFormat(file: string, option: string | undefined, csvEndings: string[] = []): Format {
  if (option !== undefined) {
    const format = FORMATS.find((known) => known === option);
    if (format) return format;
    throw new UsageError(`--format must be ${FORMATS.join(' or ')}, not "${option}"`);
  }
  if (file === '-') return 'ndjson';
  const format = findFormat(file, csvEndings);
  if (format) return format;
  const advice = OTHER_FILES.find(({ ending }) => ending.test(file))?.advice;
  throw new UsageError(
    advice ?? `Cannot determine the format of ${file} from its name. Add --format ndjson or --format csv.`,
  );
}

/** Returns the format of a file of plants by its extension, if it has one. */
export function findFormat(file: string, csvEndings: string[] = []): Format | undefined {
  const ending = /\.([^./\\]+)$/.exec(file)?.[1]?.toLowerCase() ?? '';
  return csvEndings.includes(ending) ? 'csv' : BY_ENDING[ending];
}

export function readPlantId(text: string): bigint {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && BigInt.asIntN(64, id) === id) return id;
  throw new UsageError(
    `An id must be an integer between ${-(2n ** 63n)} and ${2n ** 63n - 1n}, not ${JSON.stringify(text)}`,
  );
}

/** Returns the text as a number of at least `min`. The error message names `option`. */
export function readCount(option: string, text: string, min: 0 | 1): number {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= Number.MAX_SAFE_INTEGER) return count;
  throw new UsageError(`${option} must be an integer of at least ${min}, not ${JSON.stringify(text)}`);
}

/** Returns the text as one of the known values. The error message names `option`. */
export function readOneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const value = known.find((one) => one === text);
  if (value !== undefined) return value;
  throw new UsageError(`${option} must be one of ${known.join(', ')}, not ${JSON.stringify(text)}`);
}

/** Returns the values of a comma-separated list, in the order of `known`. An error describes them as `wanted`. */
export function readList<T extends string>(option: string, text: string, known: readonly T[], wanted: string): T[] {
  const values = text.split(',').map((value) => value.trim());
  const other = values.find((value) => !known.some((one) => one === value));
  if (other === undefined) return known.filter((one) => values.includes(one));
  throw new UsageError(`${option} must be ${wanted}, separated by commas, not "${other}"`);
}
