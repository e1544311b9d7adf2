// The commands backup and restore, which copy a whole SQLite database to and from a file. A restored file can be a
// scheduled backup.

import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { OWN_COMMAND } from '../config/command-name.ts';
import { toShellWord } from '../lib/shell-word.ts';
import { toSize } from '../lib/size.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { requireFile } from '../service/open-store.ts';
import { dirOption, findBackups, readDir } from './backups.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { requireSqlite } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { findFormat } from './parse-arguments.ts';
import { report, writeWords } from './terminal/report.ts';

/** Name that stands for the newest scheduled backup. */
const LATEST = 'latest';

export function declareBackup(command: CliCommand): void {
  command
    .argument('<file>', 'backup file to create; it must not exist')
    .examples('plant-store backup "plants-$(date +%F).db"')
    .runs(backUp);
}

async function backUp({ io, config }: CommandContext, file: string): Promise<void> {
  const path = requireSqlite(config);
  requireFile(path);
  if (existsSync(file))
    throw new UserError(`${file} already exists. A backup never overwrites a file. Choose another name.`);
  const { backUpDatabase } = await import('../storage/sqlite/backup.ts');
  const { noteBackup } = await import('../storage/sqlite/last-backup.ts');
  onInterrupt(io, `${file} was not written.`);
  const timeMs = Date.now();
  await backUpDatabase(path, file);
  try {
    noteBackup(realpathSync(path), { timeMs, bytes: statSync(file).size });
  } catch (error) {
    io.stderr.write(`The backup is complete, but GET /status will not show it: ${(error as Error).message}\n`);
  }
  reportFile(io, 'Backup written to', file);
}

export function declareRestore(command: CliCommand): void {
  command
    .argument('<file>', 'backup file to read, or the name of a scheduled backup, or latest')
    .addOption(dirOption())
    .notes(`
A file at the given path comes first. Otherwise, the command looks for the name
in BACKUP_DIR. The name latest selects the newest backup of DATABASE_URL there.
"plant-store backups" lists the names.

Stop the server and move the old database away first. The restored store has
the tokens of the backup: tokens revoked since then work again. Clients that
follow the change log and have seen changes newer than the backup receive
error 41000 (410) and must start over with a new export.`)
    .examples(
      'mv data data-old',
      'plant-store restore plants-monday.db',
      'BACKUP_DIR=/var/backups/plant-store plant-store restore latest',
    )
    .runs(restore);
}

async function restore({ io, config }: CommandContext, name: string, options: { dir?: string }): Promise<void> {
  const path = requireSqlite(config);
  const file = await findBackup(name, readDir(config, options), path);
  requireNoPlants(file);
  const { restoreDatabase } = await import('../storage/sqlite/backup.ts');
  onInterrupt(io, `${path} was not written.`);
  await restoreDatabase(file, path);
  reportFile(io, `Store restored from ${file} to`, path, { from: file });
  writeWords(
    io.stderr,
    `The tokens are those of the backup. Tokens revoked since then work again. Check them with "${OWN_COMMAND} token list".`,
  );
}

/** Throws UserError if the file has plants as NDJSON or CSV, which is not a backup. */
function requireNoPlants(file: string): void {
  const start = readStart(file);
  const hasPlants = /^\ufeff?\s*\{/.test(start) || findFormat(file) !== undefined;
  if (!hasPlants || start.startsWith('SQLite format 3')) return;
  const path = toShellWord(file);
  throw new UserError(`${file} is a file of plants, not a backup. Store its plants with "plant-store import ${path}".`);
}

/** Returns the first characters of a file, or none if it cannot be read, which the restore reports. */
function readStart(file: string): string {
  try {
    if (!statSync(file).isFile()) return ''; // opening a pipe would block
    const bytes = Buffer.alloc(64);
    const descriptor = openSync(file, 'r');
    readSync(descriptor, bytes);
    closeSync(descriptor);
    return bytes.toString();
  } catch {
    return '';
  }
}

/** Returns the path of a backup that is given by its path, or by its name in the folder of scheduled backups. */
async function findBackup(name: string, dir: string | undefined, database: string): Promise<string> {
  if (name === '') throw new UsageError('The file to restore must be a path or a name, not ""');
  if (statSync(name, { throwIfNoEntry: false })) return name; // other failures are thrown, such as EACCES
  if (basename(name) !== name) throw new UserError(`File not found: "${name}"`);
  if (dir === undefined) {
    const Failure = name === LATEST ? UsageError : UserError;
    throw new Failure(`File not found: "${name}". To restore a scheduled backup, set BACKUP_DIR or add --dir.`);
  }
  const file = name === LATEST ? await findLatest(dir, database) : join(dir, name);
  if (existsSync(file)) return file;
  throw new UserError(
    `File not found: "${name}", neither in the current folder nor in "${dir}". "${OWN_COMMAND} backups" lists the backups there.`,
  );
}

async function findLatest(dir: string, database: string): Promise<string> {
  const backups = await findBackups(dir, database);
  const [newest, next] = backups;
  if (!newest) throw new UserError(`No backups of "${basename(database)}" found in "${dir}"`);
  const future = backups.find(({ timeMs }) => timeMs > Date.now()); // the newest of them comes first
  if (future) {
    throw new UserError(
      `The newest backup, ${future.name}, is from the future. Check the clock, or restore the backup by its name.`,
    );
  }
  if (newest.bytes === 0) {
    const way = next ? `Restore the next older one by its name, ${next.name}.` : 'No other backup exists.';
    throw new UserError(`The newest backup, ${newest.name}, is empty. ${way}`);
  }
  return join(dir, newest.name);
}

function reportFile(io: CommandIo, done: string, file: string, more: { from?: string } = {}): void {
  const { size } = statSync(file);
  const words = `${done} ${file} (${toSize(size)}).`;
  report(io.stdout, words, { file, bytes: size, ...more });
}
