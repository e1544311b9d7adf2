// Prepares the location of the database file: creates its folder durably, and checks that this user can write to both
// and that the file has only one name.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { describeProcessUser } from '../../lib/process-user.ts';
import { toShellWord } from '../../lib/shell-word.ts';
import { UserError } from '../../lib/user-error.ts';

const MOUNTS = '/proc/self/mountinfo';

/** Prepares the location and returns the path with symbolic links resolved. Throws UserError. */
export function prepareLocation(givenPath: string): string {
  const folder = dirname(resolve(givenPath));
  try {
    makeDirectory(folder);
  } catch (error) {
    requireAccess(findPresent(folder));
    throw error;
  }
  const path = existsSync(givenPath) ? realpathSync(givenPath) : resolve(givenPath);
  requireWritable(path);
  requireOneName(path);
  return path;
}

/**
 * Throws UserError if the file has a second name. The names of the WAL and the lock derive from the file's name. Under
 * a second name, two servers could use the file, and a crash would lose the records in the other name's WAL.
 * A folder that is mounted twice is safe, because it holds all of these files.
 */
export function requireOneName(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.nlink > 1) {
    throw new UserError(
      `${path} has ${stat.nlink} names (hard links), and its newest records may be in the -wal file of another name. ` +
        'Stop every server that uses it and remove the other names. List them with "find / -samefile FILE".',
    );
  }
  if (isMountPoint(path)) {
    throw new UserError(`${path} is mounted as a single file, apart from its -wal file. Mount its folder instead.`);
  }
}

/**
 * True if the file itself is a mount point. Reads the list of mounts, because a file mounted from the same disk has the
 * same device number. Only Linux mounts single files.
 */
function isMountPoint(path: string): boolean {
  if (!existsSync(MOUNTS)) return false;
  const mounts = readFileSync(MOUNTS, 'latin1').split('\n');
  const escaped = Buffer.from(path)
    .toString('latin1')
    .replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return mounts.some((mount) => mount.split(' ')[4] === escaped);
}

/**
 * Creates a folder and its parents durably, readable by their owner only. Creates one level at a time: below /proc, a
 * recursive mkdir() of Node.js never returns.
 */
export function makeDirectory(givenPath: string): void {
  const path = resolve(givenPath); // the parents of a relative path never end
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return; // another process was faster
    throw error;
  }
  syncDirectory(parent);
}

/** Returns the path with symbolic links resolved, also that of a file that does not exist yet. */
export function toRealPath(givenPath: string): string {
  const path = resolve(givenPath);
  if (existsSync(path)) return realpathSync(path);
  return join(toRealPath(dirname(path)), basename(path));
}

/**
 * Throws UserError if this user cannot write. Called before the lock file is created, and before a server that cannot
 * write starts to listen.
 */
export function requireWritable(path: string): void {
  requireAccess(dirname(path));
  if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false })) {
    throw new UserError(`${path} is a link to a file that does not exist. Is its disk mounted?`);
  }
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new UserError(`${path} is a folder. Set DATABASE_URL to a file in it.`);
  if (stat) requireAccess(path);
}

/** Returns the nearest folder above that exists and that this user can see. */
function findPresent(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : findPresent(dirname(path));
}

function requireAccess(path: string): void {
  const stat = statSync(path);
  const isFolder = stat.isDirectory();
  try {
    accessSync(path, constants.R_OK | constants.W_OK | (isFolder ? constants.X_OK : 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const advice =
      code === 'EROFS'
        ? 'Its file system is read-only: mount it for writing, or set DATABASE_URL to a file elsewhere.'
        : stat.uid === process.getuid?.()
          ? `This user is its owner. Run "chmod u+rw${isFolder ? 'x' : ''} ${toShellWord(path)}".`
          : `Run as its owner (id ${stat.uid}), change its owner, or set DATABASE_URL to a file of this user.`;
    const what = isFolder ? 'the folder ' : '';
    throw new UserError(`Cannot read and write ${what}${path} as ${describeProcessUser()}: ${code}. ${advice}`);
  }
}

/** Syncs a directory. Otherwise a new name, and the file with it, may be lost in a power cut. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return; // Windows cannot open a directory, and does not need to
  const directory = openSync(path, 'r');
  fsyncSync(directory);
  closeSync(directory);
}
