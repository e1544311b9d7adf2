// The command history, which prints the changes of one plant on a server, newest first.

import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { allOption, limitOption, type PageOptions, printChanges } from './pages.ts';
import { readPlantId } from './parse-arguments.ts';

export function declareHistory(command: CliCommand): void {
  command
    .argument('<id>', 'id of the plant, a 64-bit integer; it can be negative')
    .addOption(limitOption('changes'))
    .addOption(allOption('changes'))
    .serverOptions()
    .printsJsonOrTable('change')
    .notes(`
The history goes back to the creation of the plant, or to the last prune. Each
change has the plant after it, and the token that made it. For a deleted plant,
use "changes list".`)
    .examples('plant-store history 7', "plant-store history 7 | jq -r '[.time, .tokenName, .plant.name] | @tsv'")
    .runs(listHistory);
}

async function listHistory(context: CommandContext, idText: string, options: PageOptions): Promise<void> {
  const id = readPlantId(idText);
  await printChanges<string>(context, options, (client, cursor, limit) => client.history(id, { cursor, limit }));
}
