// The command list, which prints pages of plants from a server as they arrive, as a table or as NDJSON.

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
    .option('--tag <tag>', 'only plants with exactly this tag')
    .option('--search <words>', 'only plants whose name has a word that starts with each of these')
    .option('--limit <n>', `maximum number of plants (default: ${DEFAULT_LIMIT})`)
    .addOption(new Option('--all', 'all plants, without a limit').conflicts('limit'))
    .addOption(urlOption())
    .option('--json', 'print NDJSON, one plant per line (the default when piped)')
    .notes(`
If more plants match than the limit allows, a line on standard error reports it.`)
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
    stderr.write('More plants match. Use --all or a larger --limit.\n');
  } else if (count === 0 && !isJson) {
    stdout.write('No plants found.\n');
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
