// The command backups, which lists the scheduled backups in a folder.

import { basename } from 'node:path';
import { Option } from 'commander';
import type { Config } from '../config/config.ts';
import { printDuration } from '../lib/duration.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { toSize } from '../lib/size.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { BackupFile } from '../storage/sqlite/backup-folder.ts';
import type { CommandContext } from './command-io.ts';
import { requireSqlite } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { type FormOptions, printRows } from './terminal/report.ts';
import type { Column } from './terminal/table.ts';
import { timeToSecond } from './terminal/time.ts';

interface ListedBackup {
  name: string;
  time: string;
  bytes: number;
}

const COLUMNS: Column<ListedBackup>[] = [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'TIME', cell: ({ time }) => timeToSecond(time), ifRoom: 2 },
  { heading: 'AGE', cell: ({ time }) => printAge(Date.now() - Date.parse(time)), isQuantity: true },
  { heading: 'SIZE', cell: ({ bytes }) => toSize(bytes), isQuantity: true, ifRoom: 1 },
];

export function declareBackups(command: CliCommand): void {
  command
    .addOption(dirOption())
    .printsJsonOrTable('backup')
    .notes(`
"plant-store serve" writes these backups if BACKUP_DIR is set. Their names start
with the name of the database in DATABASE_URL. "plant-store restore" accepts
the names.`)
    .examples(
      'BACKUP_DIR=/var/backups/plant-store plant-store backups',
      'plant-store backups --dir /var/backups/plant-store | jq -r .name',
    )
    .runs(listAll);
}

/** Returns the option that overrides BACKUP_DIR. */
export function dirOption(): Option {
  return new Option('--dir <folder>', 'folder of the scheduled backups (default: BACKUP_DIR)');
}

/** Returns the folder of the scheduled backups, if one is set. Throws UsageError if the option is empty. */
export function readDir({ backups }: Config, { dir }: { dir?: string }): string | undefined {
  if (dir === '') throw new UsageError('--dir must be a folder, not ""');
  return dir ?? backups?.dir;
}

/** Returns the backups of a database in a folder, newest first. Throws UserError if the folder cannot be read. */
export async function findBackups(dir: string, database: string): Promise<BackupFile[]> {
  const { listBackups } = await import('../storage/sqlite/backup-folder.ts');
  try {
    return await listBackups({ dir, database }, Date.now());
  } catch (error) {
    const { code = (error as Error).message } = error as NodeJS.ErrnoException;
    const Failure = code === 'EIO' ? UserError : UsageError; // otherwise the setting is wrong
    throw new Failure(
      `Cannot read the folder "${dir}" (${code}). Set BACKUP_DIR or --dir to the folder of the backups.`,
    );
  }
}

/** Returns the age of a backup, or undefined if the backup is from the future: the clock was set. */
function printAge(ageMs: number): string | undefined {
  return ageMs < 0 ? undefined : printDuration(ageMs);
}

async function listAll({ io, config }: CommandContext, options: { dir?: string } & FormOptions): Promise<void> {
  const database = requireSqlite(config);
  const dir = readDir(config, options);
  if (!dir) throw new UsageError('No folder to list. Set BACKUP_DIR, or add --dir.');
  const backups = await findBackups(dir, database);
  const listed = backups.map(({ name, timeMs, bytes }) => ({ name, time: new Date(timeMs).toISOString(), bytes }));
  const ifEmpty = toSafeText(`No backups of "${basename(database)}" found in "${dir}"`);
  await printRows(io.stdout, options, listed, { columns: COLUMNS, ifEmpty });
}
