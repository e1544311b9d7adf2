// Looks into a database file for a diagnosis. It changes and creates no file, whether a server is using the file, was
// killed, or has stopped cleanly.

import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { requireSoundPages, requireSoundPlants, requireSoundWal, toDamage } from './damage-checks.ts';
import { hasWal, openReader } from './database.ts';
import { requireMinVersion, sqliteVersion } from './min-version.ts';
import { pragma } from './pragma.ts';
import { requireOwnSchema, SCHEMA_VERSION } from './schema.ts';

export interface SqliteHealth {
  schemaVersion: number;
  /** Time of the newest change. Undefined in a store without changes. */
  newestChangeMs: number | undefined;
}

/** A database file, and whether a process holds the lock of a server on it. */
export interface LookedAt {
  path: string;
  isLocked: boolean;
}

/** True if the records in the WAL can be read without creating SQLite's index of it. */
export function canLookInto({ path }: LookedAt): boolean {
  return !hasWal(path) || existsSync(`${path}-shm`);
}

/** Reads the schema version and the time of the newest change. Throws UserError if the file is damaged. */
export function readHealth(file: LookedAt): SqliteHealth {
  return lookInto(file, (db) => {
    const schemaVersion = Number(pragma(db, 'user_version'));
    const newest = db.prepare('SELECT time FROM changes ORDER BY seq DESC LIMIT 1').get();
    return { schemaVersion, newestChangeMs: newest === undefined ? undefined : Number(newest.time) };
  });
}

/** Throws UserError if the schema is not the one of its version. */
export function checkSchema(file: LookedAt): void {
  lookInto(file, (db) => requireOwnSchema(db, file.path));
}

/** Throws UserError if the WAL of the file is damaged. */
export function checkWal(file: LookedAt): void {
  lookInto(file, (db) => requireSoundWal(db, file.path));
}

/** Throws UserError if a page is damaged, or a plant differs from its last change. */
export function checkContent(file: LookedAt): void {
  lookInto(file, (db) => {
    requireSoundPages(db, file.path);
    if (Number(pragma(db, 'user_version')) === SCHEMA_VERSION) requireSoundPlants(db, file.path);
  });
}

function lookInto<T>(file: LookedAt, look: (db: DatabaseSync) => T): T {
  requireMinVersion(sqliteVersion());
  const before = describeFiles(file.path);
  let db: DatabaseSync | undefined;
  try {
    db = openUnchanging(file);
    return look(db);
  } catch (error) {
    // Without locks, a server that has just started can change pages while they are read.
    if (!file.isLocked && describeFiles(file.path) !== before) return lookInto({ ...file, isLocked: true }, look);
    throw toDamage(error, file.path);
  } finally {
    db?.close();
  }
}

/**
 * Opens a connection that creates no file. Beside a server, all files exist. After a crash, SQLite indexes the WAL in
 * memory. After a clean stop there is no WAL, so the file is read without locks, for which SQLite would create files.
 */
function openUnchanging({ path, isLocked }: LookedAt): DatabaseSync {
  if (isLocked) return openReader(path);
  const url = pathToFileURL(path);
  url.searchParams.set(hasWal(path) ? 'readonly_shm' : 'immutable', '1');
  return new DatabaseSync(url, { readOnly: true });
}

/** Returns a text that changes when a process writes to the file or its WAL. */
function describeFiles(path: string): string {
  const parts = [path, `${path}-wal`].map((name) => {
    const stat = statSync(name, { throwIfNoEntry: false });
    return stat && `${stat.size} ${stat.mtimeMs}`;
  });
  return parts.join();
}
