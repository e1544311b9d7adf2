// plant-store changes prune: removes the oldest part of the change log and leaves the records.

import type { Command } from 'commander';
import { readDuration } from '../lib/duration.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { requireDatabase, withStore } from './database-access.ts';
import { examples, withConfig } from './declare.ts';
import { report } from './terminal/report.ts';

export function declareChanges(command: Command, io: CommandIo): void {
  command
    .addHelpText('after', examples('plant-store changes prune --older-than 90d'))
    .command('prune')
    .description('remove old changes; the records stay, and numbers never come again')
    .requiredOption('--older-than <time>', '30m (minutes), 12h (hours), 90d (days) or 4w (weeks)')
    .addHelpText('after', examples('plant-store changes prune --older-than 90d'))
    .action(withConfig(io, pruneChanges));
}

async function pruneChanges({ io, config }: CommandContext, options: { olderThan: string }): Promise<void> {
  const beforeMs = Date.now() - readDuration('--older-than', options.olderThan);
  requireDatabase(config);
  const pruned = await withStore(config, (store) => store.pruneChanges(beforeMs));
  report(io.stdout, `${pruned.toLocaleString('en')} changes pruned`, { pruned });
}
