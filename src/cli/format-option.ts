// The format of a file: as --format says, or as its name ends.

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
