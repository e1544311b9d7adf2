// The command tags, which prints the most common tags of a server with their numbers of plants.

import type { PlantStoreClient, Summary } from '../client/client.ts';
import type { CommandContext, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { withServer } from './remote.ts';
import { countOf, type FormOptions, printAll } from './terminal/report.ts';
import { type Column, toTable } from './terminal/table.ts';

const COLUMNS: Column<Summary['tags'][number]>[] = [
  { heading: 'TAG', cell: ({ tag }) => tag, minWidth: 8 },
  { heading: 'PLANTS', cell: ({ plants }) => plants.toLocaleString('en'), isQuantity: true },
];

export function declareTags(command: CliCommand): void {
  command
    .serverOptions()
    .printsJsonOrTable('tag')
    .notes(`
The command lists up to 100 tags, most common first. The numbers can be a few
seconds old. A store with more than 10,000 different tags lists none.`)
    .examples('plant-store tags', "plant-store tags | jq -r 'select(.plants == 1) | .tag'")
    .runs(listTags);
}

async function listTags(context: CommandContext, options: ServerOptions & FormOptions): Promise<void> {
  const { stdout } = context.io;
  const read = (client: PlantStoreClient) => client.summary();
  const summary = await withServer(context, options, read, { isRead: true });
  await printAll(stdout, options, summary.tags, () => print(summary, stdout));
}

function print({ tags, untagged, plants }: Summary, stdout: Output): string {
  const isUncounted = tags.length === 0 && plants > untagged;
  const table = tags.length > 0 ? toTable(COLUMNS, tags, stdout) : isUncounted ? 'Too many different tags.\n' : '';
  return `${table}${countOf(untagged, 'plant')} without a tag.\n`;
}
