// Backs up a store, which may be in use, and restores a backup. Each file is first written under another name: it gets
// its final name only when it is complete and checked. From its first byte, only its owner can read it.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { newDraftPath } from '../../lib/draft-path.ts';
import { printDuration } from '../../lib/duration.ts';
import { undoAtEnd } from '../../lib/undo-at-end.ts';
import { UserError } from '../../lib/user-error.ts';
import type { Filling } from './backup-thread.ts';
import { hasWal, inspectDatabase } from './database.ts';
import { prepareLocation, requireOneName, syncDirectory } from './file-location.ts';
import { takeServerLock } from './server-lock.ts';

/** The files of the thread and the process have the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./backup-thread${extname(import.meta.filename)}`, import.meta.url);
const PROCESS = new URL(`./backup-process${extname(import.meta.filename)}`, import.meta.url);
/** Time without progress after which a backup in another process has failed. */
const STALL_MS = 2 * 60_000;
const MIB = 1024 * 1024;

/** Writes a backup of the store to `file`. The backup excludes later writes. Throws UserError. */
export async function backUpDatabase(path: string, file: string, draft = newDraftPath(file)): Promise<void> {
  requireOneName(realpathSync(path));
  await makeWhole(file, { does: 'back up', from: path, draft });
}

/** Message of the process that writes a backup. `failure` is null if the backup is complete. */
export interface BackupResult {
  failure: string | null;
}

/** A backup in progress. */
export interface BackupInProgress {
  /** Resolves when the backup is complete. Rejects with a UserError if it fails, stalls or is cancelled. */
  written: Promise<void>;
  /** Resolves when the process has ended and a failed backup has no draft. Never resolves if its disk never responds. */
  ended: Promise<void>;
  /** Kills the process, and no longer keeps this one alive for it. */
  cancel(): void;
}

/**
 * Writes a backup in another process: SQLite cannot interrupt the copy of a store, but a process can be killed. It is
 * killed if its draft does not change for `stallMs`, and 1 s more for each MiB of the draft, which it reads to check it.
 */
export function startBackup(path: string, file: string, stallMs = STALL_MS): BackupInProgress {
  const draft = newDraftPath(file);
  const child = fork(PROCESS, [path, file, draft], { execArgv: [], stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  const closed = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    // unlike "exit", "close" comes after the last message
    child.on('close', (status, signal) => resolve(`its process ended with ${signal ?? status}`));
  });
  let result: BackupResult | undefined;
  child.on('message', (message) => {
    result = message as BackupResult;
  });
  const stopWatch = watchProgress(draft, stallMs, (silentMs) => cancel(`no progress for ${printDuration(silentMs)}`));
  const ended = closed.then((reason) => {
    stopWatch();
    if (result?.failure === null) return;
    fail(new UserError(result?.failure ?? `Cannot write ${file}: ${reason}`));
    removeDraft(draft);
  });
  return { written: Promise.race([ended, failed]), ended, cancel: () => cancel('cancelled') };

  function cancel(reason: string): void {
    fail(new UserError(`Cannot write ${file}: ${reason}`));
    child.kill('SIGKILL');
    child.unref();
    child.channel?.unref();
    stopWatch();
  }
}

/** Calls `onStall` once if the file does not change for too long. A disk that does not respond counts as no change. */
function watchProgress(file: string, stallMs: number, onStall: (silentMs: number) => void): () => void {
  let last = { size: 0, mtimeMs: 0 };
  let changedMs = performance.now();
  let isReading = false;
  const timer = setInterval(() => {
    const silentMs = performance.now() - changedMs;
    if (silentMs > stallMs + (last.size / MIB) * 1000) onStall(silentMs);
    else if (!isReading) void read();
  }, stallMs / 10);
  return () => clearInterval(timer);

  async function read(): Promise<void> {
    isReading = true;
    const found = await stat(file).catch(() => last);
    isReading = false;
    if (found.size !== last.size || found.mtimeMs !== last.mtimeMs) changedMs = performance.now();
    last = found;
  }
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
    await makeWhole(path, { does: 'restore', from: file, draft: newDraftPath(path) });
  } finally {
    lock.release();
  }
}

async function makeWhole(file: string, filling: Filling): Promise<void> {
  const { draft } = filling;
  const discard = undoAtEnd(() => removeDraft(draft));
  try {
    closeSync(openSync(draft, 'wx', 0o600)); // SQLite creates its other files with the same mode
    await once(new Worker(THREAD, { workerData: filling }), 'exit'); // rejects with the thread's error
    if (existsSync(file)) throw new Error('it already exists');
    renameSync(draft, file);
    syncDirectory(dirname(file));
  } catch (error) {
    throw new UserError(`Cannot write ${file}: ${(error as Error).message.replace(draft, file)}`);
  } finally {
    discard(); // a complete draft has its final name by now
  }
}

/** Removes an incomplete draft, with SQLite's files beside it. */
function removeDraft(draft: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
}
