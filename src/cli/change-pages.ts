// Prints pages of changes from a server as they arrive, as lines for a terminal or as NDJSON.

import { Option } from 'commander';
import type { ChangePage } from '../client/client.ts';
import type { CommandIo } from './command-io.ts';
import { readCount } from './parse-arguments.ts';
import { type FormOptions, jsonLine, wantsJson, writeOut } from './terminal/report.ts';

const DEFAULT_LIMIT = '100';
const PAGE = 1000;

export interface ChangePagesOptions extends FormOptions {
  limit?: string;
  all?: true;
}

export const LIMIT = ['--limit <n>', `maximum number of changes (default: ${DEFAULT_LIMIT})`] as const;

export function allOption(): Option {
  return new Option('--all', 'all changes, without a limit').conflicts('limit');
}

/** Returns the maximum number of changes to print. */
export function readMax({ limit = DEFAULT_LIMIT, all }: ChangePagesOptions): number {
  return all ? Number.POSITIVE_INFINITY : readCount('--limit', limit, 1);
}

/** Prints up to `max` changes. `readPage` returns the page at a place, or the first page. */
export async function printChangePages<Place>(
  { stdout, stderr }: CommandIo,
  options: ChangePagesOptions,
  max: number,
  readPage: (place: Place | undefined, limit: number) => Promise<ChangePage<Place>>,
): Promise<void> {
  const isJson = wantsJson(stdout, options);
  const { describeChange } = await import('./terminal/plant-table.ts');
  let count = 0;
  let thereIsMore = false;
  await writeOut(stdout, printed());
  if (thereIsMore) stderr.write('More changes match. Use --all or a larger --limit.\n');
  else if (count === 0 && !isJson) stdout.write('No changes found.\n');

  async function* printed(): AsyncGenerator<string> {
    let place: Place | undefined;
    do {
      const page = await readPage(place, Math.min(PAGE, max - count));
      for (const change of page.changes) {
        const author = change.tokenName ?? change.token;
        yield isJson ? jsonLine(change) : describeChange(change, stdout, author);
      }
      count += page.changes.length;
      place = page.next;
    } while (place !== undefined && count < max);
    thereIsMore = place !== undefined;
  }
}
