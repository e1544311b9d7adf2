// The file itself: made whole or not at all, looked at before it is written to, opened with the settings that
// make a commit durable, brought to this version's schema. Refuses what it cannot trust and leaves it untouched.

import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';
import { prepareLocation, syncDirectory } from './file-location.ts';
import { requireMinVersion, sqliteVersion } from './min-version.ts';
import { indexText } from './search.ts';
import { type ServerLock, takeServerLock } from './server-lock.ts';
import { isDamage } from './sqlite-errors.ts';
import { findWalDamage } from './wal-check.ts';

const APPLICATION_ID = 0x504c4e54;
/** In a file of SQLite. */
const [MAGIC, APPLICATION_ID_AT, HEADER_BYTES] = ['SQLite format 3\0', 68, 100];
const BUSY_TIMEOUT_MS = 5000;
const SYNCHRONOUS_FULL = 2;
/** Up to this size the pages are checked at every start, above it only after an unclean stop. */
const ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024;

/** Each plant is stored twice, in itself and in its last change, unless that was pruned. */
const ODD_PLANT = `
  SELECT CAST(plants.id AS TEXT) AS id FROM plants LEFT JOIN changes ON changes.seq = plants.seq
  WHERE CASE WHEN changes.seq IS NULL THEN plants.seq > (SELECT pruned_to FROM numbering)
    ELSE plant_id <> plants.id OR changes.name <> plants.name OR changes.tag IS NOT plants.tag OR time <> updated
      OR type = 'plant.created' AND created <> updated
      OR type NOT IN ('plant.created', 'plant.updated') END
  LIMIT 1`;

const MIGRATIONS = readdirSync(join(import.meta.dirname, 'migrations'))
  .sort()
  .map((file) => readFileSync(join(import.meta.dirname, 'migrations', file), 'utf8'));

/** A server keeps the lock and checks the pages; a command beside it does neither. */
export type Role = 'server' | 'command';

export interface PreparedDatabase {
  /** The real path, whatever link led to it. */
  path: string;
  /** Of the file that a server holds a lock on. */
  lockPath: string | undefined;
  release(): void;
}

/** Makes or checks the file, so that `openConnection` can be called on it. Throws UserError. */
export function prepareDatabase(givenPath: string, role: Role): PreparedDatabase {
  let lock: ServerLock | undefined;
  requireMinVersion(sqliteVersion());
  try {
    const path = prepareLocation(givenPath);
    if (existsSync(path)) requireStore(path); // before the lock is made beside a file that is not ours
    if (role === 'server') {
      lock = takeServerLock(path);
      if (!lock)
        throw new UserError(`Another server is using ${givenPath}: stop it, or set DATABASE_URL to another file`);
    }
    if (!existsSync(path)) {
      lock ??= takeServerLock(path);
      if (!existsSync(path)) {
        if (!lock) throw new UserError(`A server is just making ${givenPath}: try again`);
        createDatabase(path);
      }
    }
    const version = inspect(path, role);
    const db = openConnection(path);
    if (version < MIGRATIONS.length) {
      lock ??= takeServerLock(path);
      if (!lock) throw new UserError(`A server of an older version is using ${givenPath}: stop it first`);
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

/** A connection that can never write, not even when it is the last one to close. */
export function openReader(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

/**
 * A connection whose commits survive a power cut. Integers come as bigint: with a large id as the last rowid, any
 * statement at all would throw.
 */
export function openConnection(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS, readBigInts: true });
  const journal = pragma(db, 'journal_mode = WAL');
  db.exec(
    'PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA trusted_schema = OFF',
  );
  if (journal !== 'wal' || Number(pragma(db, 'synchronous')) !== SYNCHRONOUS_FULL) {
    db.close();
    throw new UserError(`${path} is on a file system without write-ahead logging: use a local disk`);
  }
  return db;
}

/** Under another name first, so that a file at `path` is never half made. */
function createDatabase(path: string): void {
  if (hasWal(path)) {
    throw new UserError(
      `${path} is missing but its log ${path}-wal is there: restore the file, or move the log away to begin anew`,
    );
  }
  const draft = `${path}.new`;
  for (const suffix of ['', '-journal']) rmSync(draft + suffix, { force: true });
  closeSync(openSync(draft, 'wx', 0o600)); // for its owner only; SQLite gives its other files the same mode
  const db = new DatabaseSync(draft); // without a WAL: what COMMIT has not put into this one file, it says
  try {
    db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
    migrate(db);
  } finally {
    db.close();
  }
  renameSync(draft, path);
  syncDirectory(dirname(path));
}

/** For a copy: refuses what is no store, or is damaged. */
export function inspectDatabase(path: string): void {
  requireStore(path);
  inspect(path, 'server');
}

/** By the beginning of the file, where SQLite keeps what it is and whose. */
function requireStore(path: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const length = readBeginning(path, header);
  if (length === 0) throw new UserError(`${path} is empty: restore it from a backup, or move it away to begin anew`);
  if (!header.toString('latin1').startsWith(MAGIC)) {
    throw new UserError(
      `${path} is no database, or its beginning is damaged: nothing was changed; name another file, or restore this one from a backup`,
    );
  }
  if (header.readUInt32BE(APPLICATION_ID_AT) !== APPLICATION_ID) {
    throw new UserError(`${path} is not a Plant Store database: set DATABASE_URL to another file`);
  }
}

function readBeginning(path: string, bytes: Buffer): number {
  if (!statSync(path).isFile()) throw new UserError(`${path} is not a file`); // a pipe would be waited for
  try {
    const file = openSync(path, 'r');
    const length = readSync(file, bytes);
    closeSync(file);
    return length;
  } catch (error) {
    throw new UserError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Reads only. Gives the version of the schema. */
function inspect(path: string, role: Role): number {
  const { size } = statSync(path);
  const uncleanStop = hasWal(path);
  const db = openReader(path);
  try {
    const version = Number(pragma(db, 'user_version'));
    if (version > MIGRATIONS.length) {
      throw new UserError(
        `${path} was written by a newer version (schema ${version}, this one knows ${MIGRATIONS.length}): upgrade Plant Store`,
      );
    }
    if (role === 'server' && uncleanStop) {
      const frame = findWalDamage(`${path}-wal`, Number(pragma(db, 'page_size')));
      if (frame !== undefined) throw damaged(`${path}-wal`, frame === 0 ? 'its header' : `frame ${frame}`);
    }
    if (role === 'server' && (uncleanStop || size <= ALWAYS_CHECKED_BYTES)) {
      const verdict = pragma(db, 'quick_check(1)');
      if (verdict !== 'ok') throw damaged(path, String(verdict));
    }
    if (role === 'server' && size <= ALWAYS_CHECKED_BYTES && version === MIGRATIONS.length) {
      db.exec(`PRAGMA mmap_size = ${ALWAYS_CHECKED_BYTES}`); // many pages, each many times
      const odd = db.prepare(ODD_PLANT).get();
      if (odd) throw damaged(path, `plant ${odd.id} is not as its last change left it`);
    }
    return version;
  } catch (error) {
    if (isDamage(error)) throw damaged(path, (error as Error).message);
    throw error;
  } finally {
    db.close();
  }
}

/** A clean stop copies the log back into the file and removes it. */
export function hasWal(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function damaged(path: string, finding: string): UserError {
  const oneLine = finding.replace(/\s+/g, ' ');
  return new UserError(`${path} is damaged (${oneLine}): nothing was changed; restore it from a backup`);
}

export function migrate(db: DatabaseSync): void {
  db.function('index_text', { deterministic: true }, (name, tag) => indexText(name as string, tag as string | null));
  db.exec('BEGIN IMMEDIATE');
  for (const sql of MIGRATIONS.slice(Number(pragma(db, 'user_version')))) db.exec(sql);
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  db.exec('COMMIT');
}

function pragma(db: DatabaseSync, text: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
