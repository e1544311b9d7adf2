// Checks of the command doctor on the content of an SQLite database: its kind, schema, WAL and pages.

import { statSync } from 'node:fs';
import type { BackupSchedule } from '../../config/backup-config.ts';
import { OWN_COMMAND } from '../../config/command-name.ts';
import { toSize } from '../../lib/size.ts';
import { UserError } from '../../lib/user-error.ts';
import { ALWAYS_CHECKED_BYTES } from '../../storage/sqlite/damage-checks.ts';
import { requireStore } from '../../storage/sqlite/database.ts';
import { requireOneName } from '../../storage/sqlite/file-location.ts';
import { canLookInto, checkContent, checkSchema, checkWal, readHealth } from '../../storage/sqlite/health.ts';
import { SCHEMA_VERSION } from '../../storage/sqlite/schema.ts';
import { isServerLocked } from '../../storage/sqlite/server-lock.ts';
import { type Check, type CheckResult, type Finding, ok, runChecks, skipped, toProblem, warning } from './finding.ts';
import { BACKUPS } from './sqlite-backups.ts';
import { LOCATION, locate, MISSING, OTHER_FILE } from './sqlite-location.ts';
import { judgeClock } from './surroundings.ts';

/** A server copies the WAL into the database at 4 MiB. An export in progress delays that. */
const MAX_WAL_BYTES = 64 * 1024 * 1024;

interface StoreFile {
  path: string;
  bytes: number;
  walBytes: number;
  /** True if a server is using the file. Undefined if this user cannot read the lock. */
  isLocked: boolean | undefined;
  /** True if files of any size are read completely. */
  isFull: boolean;
}

const CONTENT: Record<string, Check<StoreFile>> = {
  schema: checkVersion,
  clock: checkClock,
  WAL: checkSizeOfWal,
  content: checkPages,
};

/** Checks the database at a path. The return value tells whether a server is using it. */
export async function* checkSqlite(
  givenPath: string,
  { isFull, schedule }: { isFull: boolean; schedule: BackupSchedule | undefined },
): AsyncGenerator<CheckResult, boolean | undefined> {
  const location = locate(givenPath);
  if (location.bytes === undefined) {
    yield* runChecks(MISSING, location);
    yield { check: 'clock', ...judgeClock(undefined) };
    return undefined;
  }
  const { path, bytes } = location;
  const kind = findKind(path, bytes);
  yield { check: 'database', ...kind };
  let canAccess = true;
  for await (const result of runChecks(kind.status === 'ok' ? LOCATION : OTHER_FILE, location)) {
    canAccess &&= result.check !== 'access' || result.status === 'ok';
    yield result;
  }
  if (kind.status !== 'ok') return undefined;
  // As root, SQLite would change owner, group or mode of a file that the check of the access complains about.
  const isLocked = canAccess ? findLock(path) : undefined;
  if (canAccess) {
    const walBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    yield* runChecks(CONTENT, { path, bytes, walBytes, isLocked, isFull });
  }
  yield* runChecks(BACKUPS, { path, givenPath, bytes, schedule });
  return isLocked;
}

function findKind(path: string, bytes: number): Finding {
  try {
    requireStore(path);
    requireOneName(path);
    return ok(`${path}, ${toSize(bytes)}`);
  } catch (error) {
    return toProblem(error);
  }
}

function findLock(path: string): boolean | undefined {
  try {
    return isServerLocked(path);
  } catch {
    return undefined; // the check of the access reports that this user cannot read it
  }
}

function checkVersion(file: StoreFile): Finding {
  if (!canLook(file)) return mustRecover(file);
  const { schemaVersion } = readHealth(toLookedAt(file));
  if (schemaVersion > SCHEMA_VERSION) {
    throw new UserError(
      `a newer version has written the database (schema ${schemaVersion}, this version supports up to ${SCHEMA_VERSION}). Upgrade Plant Store.`,
    );
  }
  checkSchema(toLookedAt(file));
  if (schemaVersion === SCHEMA_VERSION) return ok(`version ${schemaVersion}, current`);
  return warning(
    `version ${schemaVersion}, and this version of Plant Store uses ${SCHEMA_VERSION}`,
    'Make a backup. The next start of the server migrates the database.',
  );
}

function checkClock(file: StoreFile): Finding {
  return judgeClock(findNewestChange(file));
}

function findNewestChange(file: StoreFile): number | undefined {
  try {
    return canLook(file) ? readHealth(toLookedAt(file)).newestChangeMs : undefined;
  } catch {
    return undefined; // the check of the schema reports it
  }
}

function checkSizeOfWal(file: StoreFile): Finding {
  const { walBytes, isLocked, isFull } = file;
  if (walBytes === 0) return ok('empty');
  if (!canLook(file)) return mustRecover(file);
  const size = toSize(walBytes);
  const isChecked = walBytes <= ALWAYS_CHECKED_BYTES || isFull;
  if (isChecked) checkWal(toLookedAt(file));
  if (walBytes > MAX_WAL_BYTES && isLocked) {
    return warning(
      `${size}, more than the ${toSize(MAX_WAL_BYTES)} that a server needs at most`,
      'If no export or other reader of the database is in progress, restart the server. A clean stop empties the WAL.',
    );
  }
  const found = `${size}, ${isChecked ? 'sound' : 'checked only with --full'}`;
  return ok(isLocked ? found : `${found}; the next start copies it into the database`);
}

function checkPages(file: StoreFile): Finding {
  const { bytes, isFull } = file;
  if (!canLook(file)) return mustRecover(file);
  if (bytes > ALWAYS_CHECKED_BYTES && !isFull) {
    return skipped(
      `databases above ${toSize(ALWAYS_CHECKED_BYTES)} take longer to check`,
      `Run "${OWN_COMMAND} doctor --full" to check every page.`,
    );
  }
  checkContent(toLookedAt(file));
  return ok('every page is sound, and every plant equals its last change');
}

function canLook(file: StoreFile): boolean {
  return canLookInto(toLookedAt(file));
}

/** The state after a crash, if the index of the WAL was removed. Reading the WAL would create that file. */
function mustRecover({ path }: StoreFile): Finding {
  return skipped(`${path}-shm is missing`, 'Start the server once. It recovers the WAL and creates this file.');
}

function toLookedAt({ path, isLocked = false }: StoreFile): { path: string; isLocked: boolean } {
  return { path, isLocked };
}
