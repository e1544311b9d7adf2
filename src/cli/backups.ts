// The command backups, which lists the scheduled backups in a folder.

import { basename } from 'node:path';
import { Option } from 'commander';
import { printDuration } from '../lib/duration.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import type { BackupFile } from '../storage/sqlite/backup-folder.ts';
import type { CommandContext } from './command-io.ts';
import { requireSqlite } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { jsonLine, wantsJson } from './terminal/report.ts';
import { timeToSecond, toTable } from './terminal/table.ts';

export function declareBackups(command: CliCommand): void {
  command
    .addOption(dirOption())
    .option('--json', 'print JSON, one backup per line (the default when piped)')
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

/** Returns the backups of a database in a folder, newest first. Throws UserError if the folder cannot be read. */
export async function readBackups(dir: string, database: string): Promise<BackupFile[]> {
  const { listBackups } = await import('../storage/sqlite/backup-folder.ts');
  try {
    return await listBackups({ dir, database }, Date.now());
  } catch (error) {
    const { code = (error as Error).message } = error as NodeJS.ErrnoException;
    throw new UserError(
      `Cannot read the folder ${dir} (${code}). Set BACKUP_DIR or --dir to the folder of the backups.`,
    );
  }
}

async function listAll({ io, config }: CommandContext, options: { dir?: string; json?: boolean }): Promise<void> {
  const { stdout } = io;
  const database = requireSqlite(config);
  const dir = options.dir ?? config.backups?.dir;
  if (dir === undefined) throw new UsageError('No folder to list. Set BACKUP_DIR, or add --dir.');
  const backups = await readBackups(dir, database);
  if (wantsJson(stdout, options)) {
    for (const backup of backups) stdout.write(jsonLine(stdout, describe(backup)));
  } else if (backups.length === 0) {
    stdout.write(`${toSafeText(`No backups of ${basename(database)} found in ${dir}`)}\n`);
  } else {
    stdout.write(print(backups));
  }
}

function describe({ name, timeMs, bytes }: BackupFile): { name: string; time: string; bytes: number } {
  return { name, time: new Date(timeMs).toISOString(), bytes };
}

function print(backups: BackupFile[]): string {
  const nowMs = Date.now();
  return toTable(
    ['NAME', 'TIME', 'AGE', 'SIZE'],
    backups.map((backup) => [
      backup.name,
      timeToSecond(describe(backup).time),
      printDuration(nowMs - backup.timeMs),
      `${Math.ceil(backup.bytes / 1024).toLocaleString('en')} KiB`,
    ]),
  );
}
