// Allows one server per database file. The lock is an exclusive transaction on an empty database beside the file. The
// operating system releases it however the process ends, and commands can still use the store.

import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { failureOf } from './sqlite-errors.ts';

/** Timeout for the lock. It is longer than a command needs to create a database, and short enough for a person. */
const WAIT_MS = 1000;

export type ServerLock = NonNullable<ReturnType<typeof takeServerLock>>;

/** Takes the lock. Returns undefined if another process holds it. */
export function takeServerLock(databasePath: string) {
  const path = `${databasePath}.lock`;
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  accessSync(path, constants.W_OK); // SQLite would silently lock a read-only file for reading only
  const lock = new DatabaseSync(path, { timeout: WAIT_MS });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return { path, release: () => lock.close() };
  } catch (error) {
    lock.close();
    if (failureOf(error) === 'busy') return undefined;
    throw error;
  }
}

/**
 * True if a process holds the lock. Creates no file, and reads under a shared lock of a few microseconds, for which a
 * server that starts waits.
 */
export function isServerLocked(databasePath: string): boolean {
  const path = `${databasePath}.lock`;
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false; // opening a pipe would block
  const lock = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    lock.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (failureOf(error) === 'busy') return true;
    throw error;
  } finally {
    lock.close();
  }
}
