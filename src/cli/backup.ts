// The commands backup and restore, which copy a whole SQLite database to and from a file.

import { existsSync, realpathSync, statSync } from 'node:fs';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config } from '../config/config.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { requireDatabase } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { report } from './terminal/report.ts';

export function declareBackup(command: CliCommand): void {
  command
    .argument('<file>', 'backup file to create; it must not exist')
    .examples('plant-store backup "plants-$(date +%F).db"')
    .runs(backUp);
}

async function backUp({ io, config }: CommandContext, file: string): Promise<void> {
  requireDatabase(config);
  if (existsSync(file))
    throw new UserError(`${file} already exists. A backup never overwrites a file. Choose another name.`);
  const path = requireSqlite(config);
  const { backUpDatabase, removeDraft } = await import('../storage/sqlite/backup.ts');
  const { noteBackup } = await import('../storage/sqlite/last-backup.ts');
  removeWhenInterrupted(io, file, removeDraft);
  await backUpDatabase(path, file);
  try {
    noteBackup(realpathSync(path), { timeMs: Date.now(), bytes: statSync(file).size });
  } catch (error) {
    io.stderr.write(`The backup is complete, but GET /status will not show it: ${(error as Error).message}\n`);
  }
  reportFile(io, 'Backup written to', file);
}

export function declareRestore(command: CliCommand): void {
  command
    .argument('<file>', 'backup file to read')
    .notes(`
Stop the server and move the old database away first. The restored store has
the tokens of the backup: tokens revoked since then work again. Clients that
follow the change log and have seen changes newer than the backup receive
error 41000 (410) and must start over with a new export.`)
    .examples('mv data data-old', 'plant-store restore plants-monday.db')
    .runs(restore);
}

async function restore({ io, config }: CommandContext, file: string): Promise<void> {
  if (!existsSync(file)) throw new UserError(`File not found: ${file}`);
  const path = requireSqlite(config);
  const { removeDraft, restoreDatabase } = await import('../storage/sqlite/backup.ts');
  removeWhenInterrupted(io, path, removeDraft);
  await restoreDatabase(file, path);
  reportFile(io, 'Store restored to', path);
  io.stderr.write(
    `The tokens are those of the backup. Tokens revoked since then work again. Check them with "${OWN_COMMAND} token list".\n`,
  );
}

function removeWhenInterrupted(io: CommandIo, file: string, removeDraft: (file: string) => void): void {
  onInterrupt(io, () => {
    removeDraft(file);
    io.stderr.write(`Interrupted. ${toSafeText(file)} was not written.\n`);
  });
}

/** Returns the path of the SQLite database. */
function requireSqlite({ database }: Config): string {
  if (database.kind === 'sqlite') return database.path;
  throw new UsageError(
    'This command supports SQLite only. Back up PostgreSQL with its own tools: see docs/guides/postgresql.md.',
  );
}

function reportFile(io: CommandIo, done: string, file: string): void {
  const { size } = statSync(file);
  const words = `${done} ${file} (${Math.ceil(size / 1024).toLocaleString('en')} KiB).`;
  report(io.stdout, words, { file, bytes: size });
}
