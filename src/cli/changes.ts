// plant-store changes prune: removes the oldest part of the change log and leaves the records.

import { readDuration } from '../lib/duration.ts';
import type { CommandContext } from './command-io.ts';
import { withExistingStore } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { report } from './terminal/report.ts';

export function declareChanges(command: CliCommand): void {
  command
    .examples('plant-store changes prune --older-than 90d')
    .subcommand('prune', 'remove old changes; the records stay, and numbers never come again')
    .requiredOption('--older-than <time>', '30m (minutes), 12h (hours), 90d (days) or 4w (weeks)')
    .examples('plant-store changes prune --older-than 90d')
    .runs(pruneChanges);
}

async function pruneChanges({ io, config }: CommandContext, options: { olderThan: string }): Promise<void> {
  const beforeMs = Date.now() - readDuration('--older-than', options.olderThan);
  const pruned = await withExistingStore(config, (store) => store.pruneChanges(beforeMs));
  report(io.stdout, `${pruned.toLocaleString('en')} changes pruned`, { pruned });
}
