// Prints a list from a server page by page as the pages arrive, as text or as NDJSON.

import { Option } from 'commander';
import type { ChangePage, PlantStoreClient } from '../client/client.ts';
import type { CommandContext } from './command-io.ts';
import { readCount } from './parse-arguments.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { withServer } from './remote.ts';
import { type FormOptions, jsonLine, wantsJson, writeOut } from './terminal/report.ts';

const DEFAULT_LIMIT = '100';
const PAGE = 1000;

export interface PageOptions extends ServerOptions, FormOptions {
  limit?: string;
  all?: true;
}

type Noun = 'plants' | 'changes';
/** Returns the page at a place, or the first page. */
type ReadPage<Place, Page> = (client: PlantStoreClient, place: Place | undefined, limit: number) => Promise<Page>;

export function limitOption(noun: Noun): Option {
  return new Option('--limit <n>', `maximum number of ${noun} (default: ${DEFAULT_LIMIT})`);
}

export function allOption(noun: Noun): Option {
  return new Option('--all', `all ${noun}, without a limit`).conflicts('limit');
}

export async function printPages<Row extends object, Place>(
  context: CommandContext,
  options: PageOptions,
  noun: Noun,
  readPage: ReadPage<Place, { rows: Row[]; next?: Place | undefined }>,
  toText: (rows: Row[]) => string,
): Promise<void> {
  const { stdout, stderr } = context.io;
  const max = options.all ? Number.POSITIVE_INFINITY : readCount('--limit', options.limit ?? DEFAULT_LIMIT, 1);
  const isJson = wantsJson(stdout, options);
  let count = 0;
  let thereIsMore = false;
  await withServer(context, options, (client) => writeOut(stdout, printed(client)), { isRead: true });
  if (thereIsMore) stderr.write(`More ${noun} match. Use --all or a larger --limit.\n`);
  else if (count === 0 && !isJson) stdout.write(`No ${noun} found.\n`);

  async function* printed(client: PlantStoreClient): AsyncGenerator<string> {
    let place: Place | undefined;
    do {
      const { rows, next } = await readPage(client, place, Math.min(PAGE, max - count));
      if (rows.length > 0) yield isJson ? rows.map(jsonLine).join('') : toText(rows);
      count += rows.length;
      place = next;
    } while (place !== undefined && count < max);
    thereIsMore = place !== undefined;
  }
}

export async function printChanges<Place>(
  context: CommandContext,
  options: PageOptions,
  readChanges: ReadPage<Place, ChangePage<Place>>,
): Promise<void> {
  const { describeChange } = await import('./terminal/plant-table.ts');
  await printPages(
    context,
    options,
    'changes',
    async (...place: Parameters<typeof readChanges>) => {
      const { changes, next } = await readChanges(...place);
      return { rows: changes, next };
    },
    (changes) => changes.map((each) => describeChange(each, context.io.stdout, each.tokenName ?? each.token)).join(''),
  );
}
