// Creates, checks, opens and migrates the database file. A file is created completely or not at all, and checked before
// it is written to. Connections use the settings that make commits durable. A rejected file stays unchanged.

import { closeSync, existsSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';
import {
  ALWAYS_CHECKED_BYTES,
  requireSoundCopy,
  requireSoundPages,
  requireSoundPlants,
  requireSoundWal,
  toDamage,
} from './damage-checks.ts';
import { prepareLocation, syncDirectory } from './file-location.ts';
import { requireMinVersion, sqliteVersion } from './min-version.ts';
import { pragma } from './pragma.ts';
import { migrate, requireOwnSchema, SCHEMA_VERSION } from './schema.ts';
import { type ServerLock, takeServerLock } from './server-lock.ts';

const APPLICATION_ID = 0x504c4e54;
/** Layout of the header of an SQLite file. */
const [MAGIC, APPLICATION_ID_AT, HEADER_BYTES] = ['SQLite format 3\0', 68, 100];
const BUSY_TIMEOUT_MS = 5000;
const SYNCHRONOUS_FULL = 2;

/** A server holds the lock and checks the pages. A command does neither and can run beside a server. */
export type Role = 'server' | 'command';

export interface PreparedDatabase {
  /** The path with symbolic links resolved. */
  path: string;
  /** Path of the file that a server locks. */
  lockPath: string | undefined;
  release(): void;
}

/** Creates or checks the file, so that `openConnection` can open it. Throws UserError. */
export function prepareDatabase(givenPath: string, role: Role): PreparedDatabase {
  let lock: ServerLock | undefined;
  requireMinVersion(sqliteVersion());
  try {
    const path = prepareLocation(givenPath);
    if (existsSync(path)) requireStore(path); // before a lock file is created beside another program's file
    if (role === 'server') {
      lock = takeServerLock(path);
      if (!lock)
        throw new UserError(
          `Another server is using ${givenPath}. Stop it, or set DATABASE_URL or --database to another file.`,
        );
    }
    if (!existsSync(path)) {
      lock ??= takeServerLock(path);
      if (!existsSync(path)) {
        if (!lock) throw new UserError(`A server is creating ${givenPath}. Retry in a few seconds.`);
        createDatabase(path);
      }
    }
    const version = inspect(path, role);
    const db = openConnection(path);
    if (version < SCHEMA_VERSION) {
      lock ??= takeServerLock(path);
      if (!lock) throw new UserError(`A server of an older version is using ${givenPath}. Stop it first.`);
      migrate(db);
    }
    db.close();
    if (role === 'server') return { path, lockPath: lock?.path, release: () => lock?.release() };
    lock?.release();
    return { path, lockPath: undefined, release: () => {} };
  } catch (error) {
    lock?.release();
    if (error instanceof UserError) throw error;
    throw new UserError(`Cannot use ${givenPath}: ${(error as Error).message}`);
  }
}

/** Opens a connection that never writes, not even when it is the last one to close. */
export function openReader(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

/**
 * Opens a connection whose commits survive a power cut. It returns integers as bigint: otherwise every statement would
 * throw after an insert with a large id, because its result includes the last rowid.
 */
export function openConnection(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readBigInts: true });
  const journal = pragma(db, 'journal_mode = WAL');
  db.exec(
    'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA trusted_schema = OFF',
  );
  if (journal !== 'wal' || Number(pragma(db, 'synchronous')) !== SYNCHRONOUS_FULL) {
    db.close();
    throw new UserError(`The file system of ${path} does not support write-ahead logging. Use a local disk.`);
  }
  return db;
}

/** Creates the file under another name and then renames it, so that a file at `path` is always complete. */
function createDatabase(path: string): void {
  if (hasWal(path)) {
    throw new UserError(
      `${path} is missing, but its WAL ${path}-wal exists. Restore the file, or move the WAL away to start over.`,
    );
  }
  const draft = `${path}.new`;
  for (const suffix of ['', '-journal']) rmSync(draft + suffix, { force: true });
  closeSync(openSync(draft, 'wx', 0o600)); // for the owner only; SQLite creates its other files with the same mode
  const db = new DatabaseSync(draft); // without a WAL, COMMIT reports every failure to write to this one file
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    migrate(db);
  } finally {
    db.close();
  }
  renameSync(draft, path);
  syncDirectory(dirname(path));
}

/** Checks a copy. Throws UserError if it is not a store or is damaged. */
export function inspectDatabase(path: string): void {
  requireStore(path);
  inspect(path, 'server');
}

/** Checks every page and every plant of a new copy of a store, whatever its size. Throws UserError. */
export function verifyCopy(path: string): void {
  requireStore(path);
  const db = openReader(path);
  try {
    const version = readVersion(db, path);
    requireOwnSchema(db, path);
    requireSoundCopy(db, version === SCHEMA_VERSION);
  } finally {
    db.close();
  }
}

/** Checks the file header, which holds SQLite's magic text and the id of the application. Throws UserError. */
export function requireStore(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = readBeginning(path, header);
  if (length === 0) throw new UserError(`${path} is empty. Restore it from a backup, or move it away to start over.`);
  if (!header.toString('latin1').startsWith(MAGIC)) {
    throw new UserError(
      `${path} is not a database, or its header is damaged. Nothing was changed. Choose another file, or restore this one from a backup.`,
    );
  }
  if (header.readUInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID) {
    throw new UserError(`${path} is not a Plant Store database. Set DATABASE_URL to another file.`);
  }
}

function readBeginning(path: string, bytes: Buffer): number {
  if (!statSync(path).isFile()) throw new UserError(`${path} is not a file. Choose a file.`); // opening a pipe would block
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, bytes);
    closeSync(file);
    return length;
  } catch (error) {
    throw new UserError(`Cannot read ${path} (${(error as NodeJS.ErrnoException).code}). Check its permissions.`);
  }
}

/** Checks the file without writing to it. Returns its schema version. */
function inspect(path: string, role: Role): number {
  const { size } = statSync(path);
  const uncleanStop = hasWal(path);
  const db = openReader(path);
  try {
    const version = readVersion(db, path);
    const isSmall = size <= ALWAYS_CHECKED_BYTES;
    if (role === 'server' && uncleanStop) requireSoundWal(db, path);
    if (role === 'server' && (uncleanStop || isSmall)) requireSoundPages(db, path);
    requireOwnSchema(db, path);
    if (role === 'server' && isSmall && version === SCHEMA_VERSION) {
      requireSoundPlants(db, path);
    }
    return version;
  } catch (error) {
    throw toDamage(error, path);
  } finally {
    db.close();
  }
}

/** Returns the schema version. Throws UserError if it is newer than this program. */
function readVersion(db: DatabaseSync, path: string): number {
  const version = Number(pragma(db, 'user_version'));
  if (version <= SCHEMA_VERSION) return version;
  throw new UserError(
    `${path} was written by a newer version (schema ${version}, this version supports up to ${SCHEMA_VERSION}). Upgrade Plant Store.`,
  );
}

/** True if the file has a WAL with content. A clean stop copies the WAL into the file and removes it. */
export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
