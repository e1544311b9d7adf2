// The declaration of the commands that look after a database: changes prune, migrate.

import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { examples } from './declare.ts';

export function declareDatabase(program: Command): void {
  program
    .command('changes')
    .description('look after the change log')
    .addHelpText('after', examples('plant-store changes prune --older-than 90d'))
    .command('prune')
    .description('remove old changes; the records stay, and numbers never come again')
    .requiredOption('--older-than <time>', '30m (minutes), 12h (hours), 90d (days) or 4w (weeks)')
    .addHelpText('after', examples('plant-store changes prune --older-than 90d'))
    .action(async (options) => {
      const config = readConfig();
      await (await import('./changes.ts')).pruneChanges(config, options);
    });

  program
    .command('migrate')
    .description('copy a whole store from SQLite into PostgreSQL, and prove that both hold the same')
    .requiredOption('--from <url>', 'sqlite:PATH; a server may go on using it')
    .requiredOption('--to <url>', 'postgres://USER:PASSWORD@HOST:PORT/DATABASE; empty, or a copy from before')
    .addHelpText(
      'after',
      `
Plants come with their versions and times, the change log with its numbers,
tokens as they are. Run it while the old server works, then stop that server and
run it again: only what has come since is brought over, though both sides are
read and compared as a whole. Then start servers with DATABASE_URL set to the
new one. What it prints is words on a terminal, JSON when piped.
${examples('plant-store migrate --from sqlite:./data/plants.db --to postgres://plants:secret@db/plants')}`,
    )
    .action(async (options) => {
      await (await import('./migrate.ts')).migrate(options);
    });
}
