// plant-store migrate --from sqlite:… --to postgres://…: a whole store, with proof that both are equal.

import { existsSync } from 'node:fs';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { CommandIo } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { startProgress } from './terminal/progress.ts';
import { report } from './terminal/report.ts';

export function declareMigrate(command: CliCommand): void {
  command
    .requiredOption('--from <url>', 'sqlite:PATH; a server may go on using it')
    .requiredOption('--to <url>', 'postgres://USER:PASSWORD@HOST:PORT/DATABASE; empty, or a copy from before')
    .notes(`
Plants come with their versions and times, the change log with its numbers,
tokens as they are. Run it while the old server works, then stop that server and
run it again: only what has come since is brought over, though both sides are
read and compared as a whole. Then start servers with DATABASE_URL set to the
new one. What it prints is words on a terminal, JSON when piped.`)
    .examples('plant-store migrate --from sqlite:./data/plants.db --to postgres://plants:secret@db/plants')
    .action((options) => migrate(command.io, options));
}

async function migrate(io: CommandIo, options: { from: string; to: string }): Promise<void> {
  const { describeDatabase, readDatabase } = await import('../config/config.ts');
  const [from, to] = [readDatabase(options.from, {}, '--from'), readDatabase(options.to, {}, '--to')];
  if (from.kind !== 'sqlite' || to.kind !== 'postgres') {
    throw new UsageError(
      'It goes from SQLite to PostgreSQL: --from sqlite:PATH --to postgres://USER:PASSWORD@HOST/DATABASE',
    );
  }
  if (!existsSync(from.path)) throw new UserError(`There is no database at ${from.path}`);
  const { openDump } = await import('../storage/sqlite/dump.ts');
  const { loadCopy, PASSES } = await import('../storage/postgres/load-copy.ts');
  const dump = openDump(from.path);
  const { plants, changes } = dump.counts;
  const progress = startProgress(io.stderr, 'Copying', PASSES * (plants + changes), 'rows');
  let done = 0;
  onInterrupt(io, () => {
    progress.stop();
    io.stderr.write('Stopped: run it again to go on; until then no server starts on the new database\n');
  });
  try {
    const both = await loadCopy(to.url, dump, () => {
      if (++done % 1000 === 0) progress.update(done, done);
    });
    progress.stop();
    const [p, c] = [both.plants, both.changes].map((count) => count.toLocaleString('en'));
    report(
      io.stdout,
      `${p} plants and ${c} changes are in ${describeDatabase(to)}, and tokens and webhooks\n` +
        `Both hold the same up to change ${dump.lastSeq} (SHA-256 ${both.sha256})`,
      { ...both, lastChange: dump.lastSeq },
    );
  } finally {
    progress.stop();
    dump.close();
  }
}
