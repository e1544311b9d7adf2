// One server per database file. The lock is an exclusive transaction on an empty database beside it, so the
// operating system lets go of it however the process ends, and other commands can still use the store.

import { accessSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { failureOf } from './sqlite-errors.ts';

/** Longer than another command needs to make a new database, shorter than a person's patience. */
const WAIT_MS = 1000;

export type ServerLock = NonNullable<ReturnType<typeof takeServerLock>>;

/** Undefined when somebody else has it. */
export function takeServerLock(databasePath: string) {
  const path = `${databasePath}.lock`;
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  accessSync(path, constants.W_OK); // SQLite would lock it for reading only, and say nothing
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
