// plant-store backup FILE and restore FILE, on SQLite.

import { existsSync, statSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { requireDatabase } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { report } from './terminal/report.ts';

export function declareBackup(command: CliCommand): void {
  command.argument('<file>', 'a new file').examples('plant-store backup "plants-$(date +%F).db"').runs(backUp);
}

async function backUp({ io, config }: CommandContext, file: string): Promise<void> {
  requireDatabase(config);
  if (existsSync(file)) throw new UserError(`${file} is there already: a backup does not replace another file`);
  const path = requireSqlite(config);
  const { backUpDatabase, removeDraft } = await import('../storage/sqlite/backup.ts');
  removeWhenInterrupted(io, file, removeDraft);
  await backUpDatabase(path, file);
  reportFile(io, 'backed up to', file);
}

export function declareRestore(command: CliCommand): void {
  command
    .argument('<file>', 'a backup')
    .notes(`
Stop the server and move the old store away first. Tokens are those of the
backup: what was revoked since works again. Whoever follows the change log and
has seen what came after the backup has to begin anew with an export: the
service tells them so.`)
    .examples('mv data/plants.db data/plants-old.db', 'plant-store restore plants-monday.db')
    .runs(restore);
}

async function restore({ io, config }: CommandContext, file: string): Promise<void> {
  if (!existsSync(file)) throw new UserError(`There is no file ${file}`);
  const path = requireSqlite(config);
  const { removeDraft, restoreDatabase } = await import('../storage/sqlite/backup.ts');
  removeWhenInterrupted(io, path, removeDraft);
  await restoreDatabase(file, path);
  reportFile(io, 'restored to', path);
  io.stderr.write('Its tokens are those of the backup, also those that were revoked since: look at "token list"\n');
}

function removeWhenInterrupted(io: CommandIo, file: string, removeDraft: (file: string) => void): void {
  onInterrupt(io, () => {
    removeDraft(file);
    io.stderr.write(`Stopped: ${toSafeText(file)} is not written\n`);
  });
}

/** Returns the path of the SQLite database. */
function requireSqlite({ database }: Config): string {
  if (database.kind === 'sqlite') return database.path;
  throw new UsageError('This is for SQLite: PostgreSQL has its own tools for it, see docs/scaling.md');
}

function reportFile(io: CommandIo, what: string, file: string): void {
  const { size } = statSync(file);
  const words = `The store is ${what} ${file} (${Math.ceil(size / 1024).toLocaleString('en')} KiB)`;
  report(io.stdout, words, { file, bytes: size });
}
