// Backs up a store, which may be in use, and restores a backup. Each file is first written under another name: it gets
// its final name only when it is complete and checked. From its first byte, only its owner can read it.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../lib/user-error.ts';
import type { Filling } from './backup-thread.ts';
import { hasWal, inspectDatabase } from './database.ts';
import { prepareLocation, requireOneName, syncDirectory } from './file-location.ts';
import { takeServerLock } from './server-lock.ts';

/** The files of the thread and the process have the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./backup-thread${extname(import.meta.filename)}`, import.meta.url);
const PROCESS = new URL(`./backup-process${extname(import.meta.filename)}`, import.meta.url);

/** Writes a backup of the store to `file`. The backup excludes later writes. Throws UserError. */
export async function backUpDatabase(path: string, file: string): Promise<void> {
  requireOneName(realpathSync(path));
  await makeWhole(file, 'back up', path);
}

/** Message of the process that writes a backup. `failure` is null if the backup is complete. */
export interface BackupResult {
  failure: string | null;
}

/** A backup in progress. */
export interface BackupInProgress {
  /** Resolves when the backup is complete. Rejects with a UserError if it fails or is cancelled. */
  written: Promise<void>;
  /** Ends the backup at once and removes its draft. */
  cancel(): Promise<void>;
}

/** Writes a backup in another process: SQLite cannot interrupt the copy of a store, but a process can be killed. */
export function startBackup(path: string, file: string): BackupInProgress {
  const child = fork(PROCESS, [path, file], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    // unlike "exit", "close" comes after the last message
    child.on('close', (status, signal) => resolve(`its process ended with ${signal ?? status}`));
  });
  let result: BackupResult | undefined;
  child.on('message', (message) => {
    result = message as BackupResult;
  });
  return {
    written: ended.then((reason) => {
      if (result?.failure !== null) throw new UserError(result?.failure ?? `Cannot write ${file}: ${reason}`);
    }),
    async cancel() {
      child.kill('SIGKILL');
      await ended;
      removeDraft(file);
    },
  };
}

/** Restores a backup to `givenPath`. Throws UserError if a store exists there or a server uses it. */
export async function restoreDatabase(file: string, givenPath: string): Promise<void> {
  if (hasWal(file))
    throw new UserError(
      `${file} is a store in use: ${file}-wal exists. Create a backup with "plant-store backup" and restore that.`,
    );
  inspectDatabase(file);
  const path = prepareLocation(givenPath);
  const lock = takeServerLock(path);
  if (!lock) throw new UserError(`A server is using ${givenPath}. Stop it first.`);
  try {
    if (existsSync(path)) throw new UserError(`${path} already exists. Move it away first.`);
    if (hasWal(path)) throw new UserError(`${path}-wal already exists. Move it away first.`);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    await makeWhole(path, 'restore', file);
  } finally {
    lock.release();
  }
}

/** Removes the incomplete draft of `file` when a signal ends the process. */
export function removeDraft(file: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draftOf(file) + suffix, { force: true });
}

async function makeWhole(file: string, does: Filling['does'], from: string): Promise<void> {
  const draft = draftOf(file);
  try {
    removeDraft(file);
    closeSync(openSync(draft, 'wx', 0o600)); // SQLite creates its other files with the same mode
    const workerData: Filling = { does, from, draft };
    await once(new Worker(THREAD, { workerData }), 'exit'); // rejects with the thread's error
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
