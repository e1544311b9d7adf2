// The folder of scheduled backups: the names of its files, their list and their rotation. Other files in the folder are
// never read, counted or deleted.

import { open, readdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { UserError } from '../../lib/user-error.ts';
import { makeDirectory } from './file-location.ts';

const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\dZ)\.db$/;
/** End of the names of an incomplete backup and of SQLite's files beside it. */
const DRAFT_END = /\.part(-journal|-wal|-shm)?$/;

/** A complete backup in the folder. */
export interface BackupFile {
  name: string;
  /** Time at which the backup started. It has every write that was acknowledged before. */
  timeMs: number;
  bytes: number;
}

/** The backups of one database in one folder. */
export interface BackupFolder {
  dir: string;
  /** Path of the database. Its name, without the extension, starts the name of each backup. */
  database: string;
}

/** Creates the folder if it is missing, and checks that this user can write to it. Throws UserError. */
export async function prepareFolder({ dir, database }: BackupFolder): Promise<void> {
  const found = await stat(dir).catch(() => undefined);
  if (found && !found.isDirectory()) throw new UserError(`${dir} is not a folder. Set BACKUP_DIR to a folder.`);
  const probe = join(dir, `${toName(database, Date.now())}.part`);
  try {
    makeDirectory(dir);
    await (await open(probe, 'w', 0o600)).close();
    await rm(probe);
  } catch (error) {
    const { code = (error as Error).message } = error as NodeJS.ErrnoException;
    throw new UserError(`Cannot write to the folder ${dir} (${code}). Set BACKUP_DIR to a folder of this user.`);
  }
}

/** Returns the path of a new backup that starts now. The name has the time in UTC, so names sort by time. */
export async function newBackupPath({ dir, database }: BackupFolder, nowMs: number): Promise<string> {
  const names = new Set(await readdir(dir));
  let timeMs = nowMs;
  while (names.has(toName(database, timeMs))) timeMs += 1000; // the clock was set back
  return join(dir, toName(database, timeMs));
}

/**
 * Returns the backups, newest first. Backups from the future count as the oldest: they were written before the clock
 * was set back.
 */
export async function listBackups({ dir, database }: BackupFolder, nowMs: number): Promise<BackupFile[]> {
  const found: BackupFile[] = [];
  for (const name of await readdir(dir)) {
    const timeMs = readTime(database, name);
    if (timeMs === undefined) continue;
    const file = await stat(join(dir, name)).catch(() => undefined); // may have been deleted since
    if (file?.isFile()) found.push({ name, timeMs, bytes: file.size });
  }
  const isPast = ({ timeMs }: BackupFile) => Number(timeMs <= nowMs);
  return found.sort((a, b) => isPast(b) - isPast(a) || b.timeMs - a.timeMs);
}

/** Deletes the oldest backups, so that `keep` remain. Never deletes `newFile`, the backup that was just written. */
export async function deleteOldest(
  folder: BackupFolder,
  { keep, newFile, nowMs }: { keep: number; newFile: string; nowMs: number },
): Promise<void> {
  const others = (await listBackups(folder, nowMs)).filter(({ name }) => name !== basename(newFile));
  for (const { name } of others.slice(keep - 1)) await rm(join(folder.dir, name));
}

/** Deletes incomplete backups, which a crash has left. */
export async function deleteDrafts({ dir, database }: BackupFolder): Promise<void> {
  for (const name of await readdir(dir)) {
    const isDraft = DRAFT_END.test(name) && readTime(database, name.replace(DRAFT_END, '')) !== undefined;
    if (isDraft) await rm(join(dir, name), { force: true });
  }
}

function toName(database: string, timeMs: number): string {
  return `${prefixOf(database)}${new Date(timeMs).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`;
}

/** Returns the time in the name of a backup of this database, or undefined for any other file. */
function readTime(database: string, name: string): number | undefined {
  const prefix = prefixOf(database);
  const [, hour, minute, second] = (name.startsWith(prefix) && TIME.exec(name.slice(prefix.length))) || [];
  const timeMs = Date.parse(`${hour}:${minute}:${second}`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

function prefixOf(database: string): string {
  return `${basename(database, extname(database))}-`;
}
