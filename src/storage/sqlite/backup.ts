// A consistent copy of a store that may be in use, and the way back. Each file is made under another name first, so
// that it is there only when it is whole and checked, and is its owner's alone from its first byte.

import { once } from 'node:events';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../lib/user-error.ts';
import type { Filling } from './backup-thread.ts';
import { hasWal, inspectDatabase } from './database.ts';
import { prepareLocation, requireOneName, syncDirectory } from './file-location.ts';
import { takeServerLock } from './server-lock.ts';

/** In a package it is JavaScript, as this file is then. */
const THREAD = new URL(`./backup-thread${extname(import.meta.filename)}`, import.meta.url);

/** What is written meanwhile is not in it. Throws UserError. */
export async function backUpDatabase(path: string, file: string): Promise<void> {
  requireOneName(realpathSync(path));
  await makeWhole(file, 'back up', path);
}

/** Refuses where there is a store, or a server. Throws UserError. */
export async function restoreDatabase(file: string, givenPath: string): Promise<void> {
  if (hasWal(file)) throw new UserError(`${file} is a store in use, not a backup: there is ${file}-wal beside it`);
  inspectDatabase(file);
  const path = prepareLocation(givenPath);
  const lock = takeServerLock(path);
  if (!lock) throw new UserError(`A server is using ${givenPath}: stop it first`);
  try {
    if (existsSync(path)) throw new UserError(`${path} is there already: move it away first`);
    if (hasWal(path)) throw new UserError(`${path}-wal is there already: move it away first`);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    await makeWhole(path, 'restore', file);
  } finally {
    lock.release();
  }
}

/** For a process that is told to end before the file is whole. */
export function removeDraft(file: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draftOf(file) + suffix, { force: true });
}

async function makeWhole(file: string, does: Filling['does'], from: string): Promise<void> {
  const draft = draftOf(file);
  try {
    removeDraft(file);
    closeSync(openSync(draft, 'wx', 0o600)); // SQLite gives its other files the same mode
    const workerData: Filling = { does, from, draft };
    await once(new Worker(THREAD, { workerData }), 'exit'); // throws what the thread has thrown
    renameSync(draft, file);
    syncDirectory(dirname(file));
  } catch (error) {
    removeDraft(file);
    throw new UserError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}

function draftOf(file: string): string {
  return `${file}.part`;
}
