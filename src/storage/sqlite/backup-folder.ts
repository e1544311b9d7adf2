// The folder of scheduled backups: the store that it belongs to, the names of its files, their list and their rotation.
// Other files in the folder are never read, counted or deleted.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open, readdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { describeProcessUser } from '../../lib/process-user.ts';
import { UsageError, UserError } from '../../lib/user-error.ts';
import { hasWal } from './database.ts';
import { makeDirectory, toRealPath } from './file-location.ts';
import { type ServerLock, takeServerLock } from './server-lock.ts';

const TIME = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\dZ)\.db$/;
/** End of the names of an incomplete backup, as `newDraftPath` forms them, and of SQLite's files beside it. */
const DRAFT_END = /(\.[0-9a-f]{8})?\.part(-journal|-wal|-shm)?$/;
/** Failures of a folder that is not the wrong one. */
const DISK_FAILURES = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']);
const SET_FOLDER = 'Set BACKUP_DIR or --backup-dir';
const ONE_FOLDER = 'Use one folder per store.';

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

/**
 * Creates the folder if it is missing, and checks that this user can write to it and that it has no backups of another
 * store. Throws UserError.
 */
export async function prepareFolder(folder: BackupFolder): Promise<void> {
  const { dir } = folder;
  const found = await stat(dir).catch(() => undefined);
  if (found && !found.isDirectory()) throw new UsageError(`${dir} is not a folder. ${SET_FOLDER} to a folder.`);
  const probe = join(dir, `${prefixOf(folder.database)}${randomUUID()}.part`);
  try {
    makeDirectory(dir);
    await (await open(probe, 'wx', 0o600)).close();
    await rm(probe);
    requireSameStore(folder);
  } catch (error) {
    throw toUserError(dir, error);
  }
}

/**
 * Reserves the folder for the backups of one store, until it is released or the process ends. Two stores with the same
 * file name would delete each other's backups. Throws UserError if another store has reserved it, now or before.
 */
export function claimFolder(folder: BackupFolder): ServerLock {
  let lock: ServerLock | undefined;
  try {
    lock = takeServerLock(join(folder.dir, `${prefixOf(folder.database)}backups`));
    if (!lock)
      throw new UserError(`The folder ${folder.dir} is in use for the backups of another store. ${ONE_FOLDER}`);
    requireSameStore(folder);
    const owner = ownerFile(folder);
    rmSync(owner, { force: true });
    writeFileSync(owner, `${toRealPath(folder.database)}\n`, { flag: 'wx', mode: 0o600 });
    return lock;
  } catch (error) {
    lock?.release();
    throw toUserError(folder.dir, error);
  }
}

function toUserError(dir: string, error: unknown): UserError {
  if (error instanceof UserError) return error;
  const { code = (error as Error).message } = error as NodeJS.ErrnoException;
  const Failure = DISK_FAILURES.has(code) ? UserError : UsageError;
  return new Failure(
    `Cannot write to the folder ${dir} as ${describeProcessUser()}: ${code}. ${SET_FOLDER} to a folder of this user.`,
  );
}

/** Throws UsageError if the folder has the backups of another store. A store that was moved counts as another one. */
function requireSameStore(folder: BackupFolder): void {
  const owner = ownerFile(folder);
  const store = existsSync(owner) ? readFileSync(owner, 'utf8').trimEnd() : '';
  if (store === '' || store === toRealPath(folder.database)) return;
  throw new UsageError(
    `The folder ${folder.dir} has the backups of another store, ${store}. ${ONE_FOLDER} If that store was moved, delete ${owner}.`,
  );
}

/** Returns the path of the file that names the store whose backups are in the folder. */
function ownerFile({ dir, database }: BackupFolder): string {
  return join(dir, `${prefixOf(database)}backups.txt`);
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

/**
 * Deletes the oldest backups, so that `keep` remain. Never deletes `newFile`, the backup that was just written, nor a
 * backup that a server has opened in place.
 */
export async function deleteOldest(
  folder: BackupFolder,
  { keep, newFile, nowMs }: { keep: number; newFile: string; nowMs: number },
): Promise<void> {
  const others = (await listBackups(folder, nowMs)).filter(({ name }) => name !== basename(newFile));
  for (const { name } of others.slice(keep - 1)) {
    const path = join(folder.dir, name);
    if (!existsSync(`${path}.lock`) && !hasWal(path)) await rm(path);
  }
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
