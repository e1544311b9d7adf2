// The command migrate, which copies a store from SQLite to PostgreSQL and verifies that both hold the same data.

import { existsSync } from 'node:fs';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { CommandIo } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { startProgress } from './terminal/progress.ts';
import { countOf, report } from './terminal/report.ts';

export function declareMigrate(command: CliCommand): void {
  command
    .requiredOption('--from <url>', 'source, sqlite:PATH; a server can keep using it (required)')
    .requiredOption(
      '--to <url>',
      'target, postgres://USER:PASSWORD@HOST:PORT/DATABASE; empty, or an earlier copy (required)',
    )
    .notes(`
Plants keep their versions and times, and the change log keeps its numbers.
Tokens and webhooks are copied unchanged.

Run the command while the old server is running. Then stop that server and run
the command again: the second run copies only the newer changes, but reads and
compares both stores completely. Then start servers with DATABASE_URL set to
the new database. The result is printed as text on a terminal, as JSON when
piped.`)
    .examples('plant-store migrate --from sqlite:./data/plants.db --to postgres://plants:secret@db/plants')
    .action((options) => migrate(command.io, options));
}

async function migrate(io: CommandIo, options: { from: string; to: string }): Promise<void> {
  const { describeDatabase, readDatabase } = await import('../config/config.ts');
  const [from, to] = [readDatabase(options.from, {}, '--from'), readDatabase(options.to, {}, '--to')];
  if (from.kind !== 'sqlite' || to.kind !== 'postgres') {
    throw new UsageError(
      'This command copies SQLite to PostgreSQL. Use --from sqlite:PATH --to postgres://USER:PASSWORD@HOST/DATABASE.',
    );
  }
  if (!existsSync(from.path)) throw new UserError(`No database at ${from.path}`);
  const { openDump } = await import('../storage/sqlite/dump.ts');
  const { loadCopy, PASSES } = await import('../storage/postgres/load-copy.ts');
  const dump = openDump(from.path);
  const { plants, changes } = dump.counts;
  const progress = startProgress(io.stderr, 'Copying', PASSES * (plants + changes), { unit: 'row' });
  let done = 0;
  onInterrupt(io, 'Run the command again to continue. Until then, no server starts on the new database.');
  try {
    const both = await loadCopy(to.url, dump, () => {
      if (++done % 1000 === 0) progress.update(done, done);
    });
    progress.stop();
    report(
      io.stdout,
      `${countOf(both.plants, 'plant')}, ${countOf(both.changes, 'change')}, the tokens and the webhooks are in ${describeDatabase(to)}.\n` +
        `Both stores hold the same data up to change ${dump.lastSeq}. SHA-256 of both:\n${both.sha256}`,
      { ...both, lastChange: dump.lastSeq },
    );
  } finally {
    progress.stop();
    dump.close();
  }
}
