// The command changes prune, which removes the oldest changes from the change log and keeps the records.

import { readDuration } from '../lib/duration.ts';
import type { CommandContext } from './command-io.ts';
import { withExistingStore } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { countOf, report } from './terminal/report.ts';

export function declareChanges(command: CliCommand): void {
  command
    .examples('plant-store changes prune --older-than 90d')
    .subcommand('prune', 'remove old changes from the change log; the records stay')
    .requiredOption('--older-than <time>', 'age of the changes to remove: 30m, 12h, 90d or 4w (required)')
    .notes(`
Sequence numbers are never reused. Clients that request pruned changes receive
error 41000 (410) and must start over with a new export.`)
    .examples('plant-store changes prune --older-than 90d')
    .runs(pruneChanges);
}

async function pruneChanges({ io, config }: CommandContext, options: { olderThan: string }): Promise<void> {
  const beforeMs = Date.now() - readDuration('--older-than', options.olderThan);
  const pruned = await withExistingStore(config, (store) => store.pruneChanges(beforeMs));
  report(io.stdout, `${countOf(pruned, 'change')} pruned.`, { pruned });
}
