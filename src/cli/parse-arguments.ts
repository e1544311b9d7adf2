// What arguments and options of several commands say, read before anything is opened or sent.

import { FORMATS, type Format } from '../domain/names.ts';
import { UsageError } from '../lib/user-error.ts';
import { FixedOption } from './declare.ts';

const BY_ENDING: Record<string, Format> = { ndjson: 'ndjson', jsonl: 'ndjson', csv: 'csv' };

export function formatOption(): FixedOption {
  const description = 'ndjson or csv (default: as the name of the file ends; ndjson for -)';
  return new FixedOption('--format <format>', description, FORMATS);
}

export function chooseFormat(file: string, option: string | undefined): Format {
  if (option !== undefined) {
    const format = FORMATS.find((known) => known === option);
    if (format) return format;
    throw new UsageError(`--format takes ${FORMATS.join(' or ')}, not "${option}"`);
  }
  if (file === '-') return 'ndjson';
  const format = BY_ENDING[/\.([^./\\]+)$/.exec(file)?.[1]?.toLowerCase() ?? ''];
  if (format) return format;
  throw new UsageError(`${file} does not say in which format it is: add --format ndjson or --format csv`);
}

export function readPlantId(text: string): bigint {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  if (id !== undefined && BigInt.asIntN(64, id) === id) return id;
  throw new UsageError(
    `An id is a whole number from ${-(2n ** 63n)} to ${2n ** 63n - 1n}, not ${JSON.stringify(text)}`,
  );
}

/** `option` is named in the refusal. */
export function readCount(option: string, text: string, min: 0 | 1): number {
  const count = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (count >= min && count <= Number.MAX_SAFE_INTEGER) return count;
  throw new UsageError(`${option} takes a whole number from ${min} on, not ${JSON.stringify(text)}`);
}

/** Returns the values of a list with commas, in the order of `known`. `wanted` says what the option takes. */
export function readList<T extends string>(option: string, text: string, known: readonly T[], wanted: string): T[] {
  const values = text.split(',').map((value) => value.trim());
  const other = values.find((value) => !known.some((one) => one === value));
  if (other === undefined) return known.filter((one) => values.includes(one));
  throw new UsageError(`${option} takes ${wanted}, separated by commas, not "${other}"`);
}
