// plant-store migrate --from sqlite:… --to postgres://…: a whole store into another database, with its versions, its
// change log and its tokens, and proof that both hold the same.

import { existsSync } from 'node:fs';
import { describeDatabase, readDatabase } from '../config/config.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { loadCopy, PASSES } from '../storage/postgres/load-copy.ts';
import { openDump } from '../storage/sqlite/dump.ts';
import { onInterrupt } from './interrupt.ts';
import { startProgress } from './terminal/progress.ts';
import { report } from './terminal/report.ts';

export async function migrate(options: { from: string; to: string }): Promise<void> {
  const [from, to] = [readDatabase(options.from, {}, '--from'), readDatabase(options.to, {}, '--to')];
  if (from.kind !== 'sqlite' || to.kind !== 'postgres') {
    throw new UsageError(
      'It goes from SQLite to PostgreSQL: --from sqlite:PATH --to postgres://USER:PASSWORD@HOST/DATABASE',
    );
  }
  if (!existsSync(from.path)) throw new UserError(`There is no database at ${from.path}`);
  const dump = openDump(from.path);
  const { plants, changes } = dump.counts;
  const progress = startProgress('Copying', PASSES * (plants + changes), 'rows');
  let done = 0;
  onInterrupt(() => {
    progress.stop();
    process.stderr.write('Stopped: run it again to go on; until then no server starts on the new database\n');
  });
  try {
    const both = await loadCopy(to.url, dump, () => {
      if (++done % 1000 === 0) progress.update(done, done);
    });
    progress.stop();
    const [p, c] = [both.plants, both.changes].map((count) => count.toLocaleString('en'));
    report(
      `${p} plants and ${c} changes are in ${describeDatabase(to)}, and tokens and webhooks\n` +
        `Both hold the same up to change ${dump.lastSeq} (SHA-256 ${both.sha256})`,
      { ...both, lastChange: dump.lastSeq },
    );
  } finally {
    progress.stop();
    dump.close();
  }
}
