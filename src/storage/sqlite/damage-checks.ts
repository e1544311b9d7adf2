// Finds damage in a database: in its WAL, in the structure of its pages, and in plants that contradict the change log.

import type { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';
import { pragma } from './pragma.ts';
import { isDamage } from './sqlite-errors.ts';
import { findWalDamage } from './wal-check.ts';

/** Maximum file size for checking all pages at every start. Larger files are checked only after an unclean stop. */
export const ALWAYS_CHECKED_BYTES = 64 * 1024 * 1024;

/** Selects a plant that differs from its last change. A plant whose last change was pruned is not compared. */
const ODD_PLANT = `
  SELECT CAST(plants.id AS TEXT) AS id FROM plants LEFT JOIN changes ON changes.seq = plants.seq
  WHERE CASE WHEN changes.seq IS NULL THEN plants.seq > (SELECT pruned_to FROM numbering)
    ELSE plant_id <> plants.id OR changes.name <> plants.name OR changes.tag IS NOT plants.tag OR time <> updated
      OR type = 'plant.created' AND created <> updated
      OR type NOT IN ('plant.created', 'plant.updated') END
  LIMIT 1`;

/** Selects both numbers if the number of plants differs from the one that the newest change has. */
const ODD_COUNT = `
  SELECT counted, known FROM (
    SELECT (SELECT count(*) FROM plants) AS counted,
      coalesce((SELECT plant_count FROM changes ORDER BY seq DESC LIMIT 1), plant_count) AS known FROM numbering
  ) WHERE counted <> known`;

/** Throws UserError if the WAL is damaged. */
export function requireSoundWal(db: DatabaseSync, path: string): void {
  const frame = findWalDamage(`${path}-wal`, Number(pragma(db, 'page_size')));
  if (frame !== undefined) throw damaged(`${path}-wal`, frame === 0 ? 'its header' : `frame ${frame}`);
}

/** Throws UserError if the structure of a page is damaged. */
export function requireSoundPages(db: DatabaseSync, path: string): void {
  const finding = findBadPage(db);
  if (finding !== undefined) throw damaged(path, finding);
}

/** Throws UserError if a plant differs from its last change. The schema must be current. */
export function requireSoundPlants(db: DatabaseSync, path: string): void {
  const finding = findBadPlant(db);
  if (finding !== undefined) throw damaged(path, finding);
}

/** Returns the first fault in the structure of the file, if any. */
function findBadPage(db: DatabaseSync): string | undefined {
  const verdict = pragma(db, 'quick_check(1)');
  return verdict === 'ok' ? undefined : String(verdict);
}

/** Returns the first contradiction between the plants and the change log, if any. */
function findBadPlant(db: DatabaseSync): string | undefined {
  db.exec(`PRAGMA mmap_size = ${ALWAYS_CHECKED_BYTES}`); // the check reads many pages many times
  const odd = db.prepare(ODD_PLANT).get();
  if (odd) return `plant ${odd.id} differs from its last change`;
  const count = db.prepare(ODD_COUNT).get();
  return count && `its number of plants is ${count.counted} instead of ${count.known}`;
}

/** Returns a UserError in place of an SQLite error about the content of the file, and any other error unchanged. */
export function toDamage(error: unknown, path: string): unknown {
  return isDamage(error) ? damaged(path, (error as Error).message) : error;
}

/** Throws UserError if a new copy is damaged. Its plants are compared only if the schema is current. */
export function requireSoundCopy(db: DatabaseSync, isCurrent: boolean): void {
  try {
    const finding = findBadPage(db) ?? (isCurrent ? findBadPlant(db) : undefined);
    if (finding !== undefined) throw badCopy(finding);
  } catch (error) {
    throw isDamage(error) ? badCopy((error as Error).message) : error;
  }
}

function damaged(path: string, finding: string): UserError {
  return new UserError(`${path} is damaged (${toOneLine(finding)}). Nothing was changed. Restore it from a backup.`);
}

function badCopy(finding: string): UserError {
  return new UserError(`the copy is damaged (${toOneLine(finding)}). The store may be damaged too: check its disk.`);
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}
