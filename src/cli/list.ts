// plant-store list: pages of a running server as they come, in a table or as lines of JSON.

import { Option } from 'commander';
import type { ListQuery, PlantRecord, PlantStoreClient } from '../client/client.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { readCount } from './parse-arguments.ts';
import { type ServerOptions, urlOption, withServer } from './remote.ts';
import { jsonLine, wantsJson, writeOut } from './terminal/report.ts';

const DEFAULT_LIMIT = '100';
const PAGE = 1000;
const DEFAULT_WIDTH = 80;

interface ListOptions extends ServerOptions {
  tag?: string;
  search?: string;
  limit?: string;
  all?: true;
  json?: boolean;
}

export function declareList(command: CliCommand): void {
  command
    .option('--tag <tag>', 'only those with exactly this tag')
    .option('--search <words>', 'only those in whose name each of these words begins a word')
    .option('--limit <n>', 'at most so many (default: 100)')
    .addOption(new Option('--all', 'however many there are').conflicts('limit'))
    .addOption(urlOption())
    .option('--json', 'as JSON, a plant a line, which is the default when piped')
    .notes(`
When there are more than the limit, a line on standard error says so.`)
    .examples(
      'plant-store list',
      'plant-store list --search "mon del" --tag tropical',
      "plant-store list --all | jq -r 'select(.tag == null) | .id'",
    )
    .runs(listPlants);
}

async function listPlants(context: CommandContext, options: ListOptions): Promise<void> {
  const { stdout, stderr } = context.io;
  const max = options.all ? Number.POSITIVE_INFINITY : readCount('--limit', options.limit ?? DEFAULT_LIMIT, 1);
  const isJson = wantsJson(stdout, options);
  const { createPlantTable } = await import('./terminal/plant-table.ts');
  const print = isJson ? toLines : createPlantTable(stdout.columns || DEFAULT_WIDTH, stdout);
  let count = 0;
  let thereIsMore = false;
  await withServer(context, options, (client) => writeOut(stdout, printed(client)), { isRead: true });
  if (thereIsMore) {
    stderr.write(`There are more: add --all, or a larger --limit\n`);
  } else if (count === 0 && !isJson) {
    stdout.write('No plants\n');
  }

  async function* printed(client: PlantStoreClient): AsyncGenerator<string> {
    const query: ListQuery = { tag: options.tag, q: options.search };
    do {
      const page = await client.list({ ...query, limit: Math.min(PAGE, max - count) });
      if (page.records.length > 0) yield print(page.records);
      count += page.records.length;
      query.cursor = page.next;
    } while (query.cursor !== undefined && count < max);
    thereIsMore = query.cursor !== undefined;
  }

  function toLines(records: PlantRecord[]): string {
    return records.map((record) => jsonLine(stdout, record)).join('');
  }
}
