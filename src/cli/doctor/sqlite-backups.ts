// Checks of the command doctor on the backups of an SQLite database: the scheduled ones, or else the last one by hand.

import { accessSync, constants, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { BackupSchedule } from '../../config/backup-config.ts';
import { docsPage } from '../../lib/docs-page.ts';
import { printDuration } from '../../lib/duration.ts';
import { toSize } from '../../lib/size.ts';
import { listBackups } from '../../storage/sqlite/backup-folder.ts';
import { readLastBackup } from '../../storage/sqlite/last-backup.ts';
import { timeToMinute } from '../terminal/time.ts';
import { type Check, type Finding, ok, problem, warning } from './finding.ts';
import { checkFreeSpace } from './sqlite-location.ts';

const MAX_AGE_MS = 7 * 86_400_000;
const SCHEDULE = `Set BACKUP_DIR for the server, which then writes backups itself: see ${docsPage('guides/backup-restore.md')}.`;
const READ_LOG = 'Check that the server runs with this BACKUP_DIR, and look for backup_failed in the service log.';

interface BackedUp {
  /** Path of the database, with symbolic links resolved. */
  path: string;
  /** Path in DATABASE_URL, whose name starts the names of scheduled backups. */
  givenPath: string;
  bytes: number;
  /** Undefined if BACKUP_DIR is not set. */
  schedule: BackupSchedule | undefined;
}

export const BACKUPS: Record<string, Check<BackedUp>> = {
  backup: (store) => (store.schedule ? checkScheduled(store, store.schedule) : checkLast(store)),
  'backup disk': checkDisk,
};

async function checkScheduled({ givenPath }: BackedUp, { dir, everyMs }: BackupSchedule): Promise<Finding> {
  const folder = resolve(dir);
  const nowMs = Date.now();
  const unusable = checkFolder(folder);
  if (unusable) return unusable;
  const [newest] = await listBackups({ dir: folder, database: givenPath }, nowMs);
  if (!newest) return warning(`${folder} has no scheduled backup of ${basename(givenPath)}`, READ_LOG);
  const ageMs = nowMs - newest.timeMs;
  const time = toTime(newest.timeMs);
  if (ageMs > 2 * everyMs) {
    const found = `the newest scheduled one is ${printDuration(ageMs)} old (${time}), with one due every ${printDuration(everyMs)}`;
    return warning(found, READ_LOG);
  }
  return ok(`the newest scheduled one is from ${time}, ${toSize(newest.bytes)}`);
}

function checkFolder(folder: string): Finding | undefined {
  if (!existsSync(folder)) {
    return problem(
      `the folder ${folder} of BACKUP_DIR does not exist`,
      'Check that its disk is mounted, or correct BACKUP_DIR. Only a start of the server creates the folder.',
    );
  }
  try {
    accessSync(`${folder}/`, constants.R_OK | constants.W_OK | constants.X_OK); // fails on a file, too
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return problem(
      `this user cannot write to the folder ${folder} (${code})`,
      'Set BACKUP_DIR to a folder of the user of the server, and run this command as that user.',
    );
  }
}

async function checkLast({ path }: BackedUp): Promise<Finding> {
  const last = await readLastBackup(path);
  if (!last) return warning('the store has no backup', SCHEDULE);
  const ageMs = Date.now() - last.timeMs;
  const time = toTime(last.timeMs);
  if (ageMs > MAX_AGE_MS) return warning(`the last one is ${printDuration(ageMs)} old (${time})`, SCHEDULE);
  return ok(`the last one is from ${time}, ${toSize(last.bytes)}`);
}

async function checkDisk({ schedule, bytes }: BackedUp): Promise<Finding | undefined> {
  if (!schedule || !existsSync(schedule.dir)) return undefined;
  const finding = await checkFreeSpace({ folder: resolve(schedule.dir), bytes });
  return finding.status === 'ok' ? finding : { ...finding, advice: 'Free space there, or lower BACKUP_KEEP.' };
}

function toTime(timeMs: number): string {
  return timeToMinute(new Date(timeMs).toISOString());
}
