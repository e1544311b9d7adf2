// plant-store backup FILE and restore FILE, on SQLite.

import { existsSync, statSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { backUpDatabase, removeDraft, restoreDatabase } from '../storage/sqlite/backup.ts';
import { requireDatabase } from './database-access.ts';
import { onInterrupt } from './interrupt.ts';
import { report } from './terminal/report.ts';

/** Also while a server runs. */
export async function backUp(config: Config, file: string): Promise<void> {
  requireDatabase(config);
  if (existsSync(file)) throw new UserError(`${file} is there already: a backup does not replace another file`);
  const path = requireSqlite(config);
  removeWhenInterrupted(file);
  await backUpDatabase(path, file);
  reportFile('backed up to', file);
}

export async function restore(config: Config, file: string): Promise<void> {
  if (!existsSync(file)) throw new UserError(`There is no file ${file}`);
  const path = requireSqlite(config);
  removeWhenInterrupted(path);
  await restoreDatabase(file, path);
  reportFile('restored to', path);
  process.stderr.write(
    'Its tokens are those of the backup, also those that were revoked since: look at "token list"\n',
  );
}

function removeWhenInterrupted(file: string): void {
  onInterrupt(() => {
    removeDraft(file);
    process.stderr.write(`Stopped: ${toSafeText(file)} is not written\n`);
  });
}

/** PostgreSQL has tools of its own for this, made for the job. */
function requireSqlite({ database }: Config): string {
  if (database.kind === 'sqlite') return database.path;
  throw new UsageError('This is for SQLite: PostgreSQL has its own tools for it, see docs/scaling.md');
}

function reportFile(what: string, file: string): void {
  const { size } = statSync(file);
  report(`The store is ${what} ${file} (${Math.ceil(size / 1024).toLocaleString('en')} KiB)`, { file, bytes: size });
}
