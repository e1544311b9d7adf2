// The command list, which prints pages of plants from a server as they arrive, as a table or as NDJSON, or their number.

import { Option } from 'commander';
import type { Filter } from '../client/client.ts';
import { SORTS } from '../domain/names.ts';
import type { CommandContext } from './command-io.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { allOption, limitOption, type PageOptions, printPages } from './pages.ts';
import { readCount, readOneOf } from './parse-arguments.ts';
import { withServer } from './remote.ts';
import { writeOut } from './terminal/report.ts';
import { createTable } from './terminal/table.ts';

interface ListOptions extends PageOptions {
  tag?: string[];
  untagged?: true;
  search?: string;
  sort?: string;
  offset?: string;
  count?: true;
}

export function declareList(command: CliCommand): void {
  command
    .option('--tag <tag>', 'only plants with exactly this tag; repeat it for any of several tags', addTag)
    .option('--untagged', 'only plants without a tag; with --tag, also these')
    .option('--search <words>', 'only plants whose name has a word that starts with each of these')
    .addOption(new FixedOption('--sort <order>', 'id, name or updated; a leading - reverses it (default: id)', SORTS))
    .addOption(limitOption('plants'))
    .option('--offset <n>', 'number of plants to skip, in the order of --sort (default: 0)')
    .addOption(allOption('plants'))
    .addOption(
      new Option('--count', 'print only the number of plants, or >100000').conflicts([
        'sort',
        'limit',
        'offset',
        'all',
        'json',
        'table',
      ]),
    )
    .serverOptions()
    .printsJsonOrTable('plant')
    .notes(`
If more plants match than the limit allows, a line on standard error reports it.
Names are sorted without case and accents. With --tag, --untagged or --search,
an order other than id is limited to 10,000 matches. Without them, --count is
always exact.`)
    .examples(
      'plant-store list',
      'plant-store list --search "mon del" --tag tropical',
      'plant-store list --sort -updated --limit 10',
      'plant-store list --sort name --offset 500000 --limit 20',
      'plant-store list --tag shrub --tag tree --count',
      "plant-store list --all | jq -r 'select(.tag == null) | .id'",
    )
    .runs(listPlants);
}

async function listPlants(context: CommandContext, options: ListOptions): Promise<void> {
  const filter: Filter = { tag: options.tag, untagged: options.untagged, q: options.search };
  if (options.count) return printCount(context, options, filter);
  const sort = options.sort === undefined ? undefined : readOneOf('--sort', options.sort, SORTS);
  const offset = options.offset === undefined ? undefined : readCount('--offset', options.offset, 0);
  const { PLANT_COLUMNS } = await import('./terminal/plant-table.ts');
  await printPages(
    context,
    options,
    'plants',
    async (client, cursor: string | undefined, limit) => {
      const place = cursor === undefined ? { offset } : { cursor };
      const { records, next } = await client.list({ ...filter, sort, ...place, limit });
      return { rows: records, next };
    },
    createTable(PLANT_COLUMNS, context.io.stdout),
  );
}

/** Adds a tag to those before it. */
function addTag(tag: string, tags: string[] = []): string[] {
  return [...tags, tag];
}

async function printCount(context: CommandContext, options: ListOptions, filter: Filter): Promise<void> {
  const { plants, isMore } = await withServer(context, options, (client) => client.count(filter), { isRead: true });
  await writeOut(context.io.stdout, [`${isMore ? '>' : ''}${plants}\n`]);
}
