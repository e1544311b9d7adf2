// Where the file is or will be: its folder is there to stay, and this user may write to both.

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Refusal } from '../refusal.ts';

/** Gives the real path, whatever link led to it. Throws Refusal. */
export function preparePlace(givenPath: string): string {
  makeDirectory(dirname(resolve(givenPath)));
  const path = existsSync(givenPath) ? realpathSync(givenPath) : resolve(givenPath);
  requireWritable(path);
  return path;
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
    throw new Refusal(`${path} is a link to a file that is not there: is its disk mounted?`);
  }
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory()) throw new Refusal(`${path} is a folder: set DATABASE_URL to a file in it`);
  if (stat) requireAccess(path);
}

function requireAccess(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(`${path} cannot be written by this user (${code}): run as its owner, or change its owner`);
  }
}

/** Without this a new name may be gone after a power cut, and the file with it. */
export function syncDirectory(path: string): void {
  if (process.platform === 'win32') return; // cannot open a directory, and has no need to
  const directory = openSync(path, 'r');
  fsyncSync(directory);
  closeSync(directory);
}
