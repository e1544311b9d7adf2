// Where the file is or will be: its folder is there to stay, this user may write to both, and the file has one name.

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
import { dirname, resolve } from 'node:path';
import { UserError } from '../../lib/user-error.ts';

const MOUNTS = '/proc/self/mountinfo';

/** Gives the real path, whatever link led to it. Throws UserError. */
export function prepareLocation(givenPath: string): string {
  makeDirectory(dirname(resolve(givenPath)));
  const path = existsSync(givenPath) ? realpathSync(givenPath) : resolve(givenPath);
  requireWritable(path);
  requireOneName(path);
  return path;
}

/**
 * The WAL and the lock go by the name of the file. Under a second name two servers could run on it, and after a crash
 * the records in the WAL of the other name would be missing. A folder that is mounted twice holds all of these files,
 * so that the same name in it is safe. Throws UserError.
 */
export function requireOneName(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  if (stat.nlink > 1) {
    throw new UserError(
      `${path} has ${stat.nlink} names (hard links), and its newest records may be in the -wal of another name: ` +
        'stop every server that uses it and remove the other names; "find / -samefile FILE" lists them',
    );
  }
  if (isMountPoint(path)) {
    throw new UserError(
      `${path} is mounted as a single file, apart from its -wal: mount the folder that it is in instead`,
    );
  }
}

/** Looks at the list of mounts: a file of the same disk has the same device number. Only Linux mounts single files. */
function isMountPoint(path: string): boolean {
  if (!existsSync(MOUNTS)) return false;
  const mounts = readFileSync(MOUNTS, 'latin1').split('\n');
  const escaped = Buffer.from(path)
    .toString('latin1')
    .replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return mounts.some((mount) => mount.split(' ')[4] === escaped);
}

function makeDirectory(path: string): void {
  const firstMade = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (firstMade === undefined) return;
  for (let made = path; made.length >= firstMade.length; made = dirname(made)) syncDirectory(dirname(made));
}

/** Before the lock is made beside it, and before a server listens that could not store anything. */
function requireWritable(path: string): void {
  requireAccess(dirname(path));
  if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false })) {
    throw new UserError(`${path} is a link to a file that is not there: is its disk mounted?`);
  }
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new UserError(`${path} is a folder: set DATABASE_URL to a file in it`);
  if (stat) requireAccess(path);
}

function requireAccess(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(`${path} cannot be written by this user (${code}): run as its owner, or change its owner`);
  }
}

/** Without this a new name may be gone after a power cut, and the file with it. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return; // cannot open a directory, and has no need to
  const directory = openSync(path, 'r');
  fsyncSync(directory);
  closeSync(directory);
}
