// Reads the settings of scheduled backups.

import { docsPage } from '../lib/docs-page.ts';
import { parseDuration } from '../lib/duration.ts';
import { UsageError } from '../lib/user-error.ts';
import { readNumber, refuse } from './parse-setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

const MIN_EVERY_MS = 10_000;
/** Two weeks. A timer of Node.js can wait for at most 24 days. */
const MAX_EVERY_MS = 14 * 86_400_000;
const MAX_KEPT = 10_000;

/** Where, how often and how many backups the server writes. */
export interface BackupSchedule {
  /** Folder of the backups. */
  dir: string;
  /** Interval between two backups. */
  everyMs: number;
  /** Number of backups that are kept. */
  keep: number;
}

/** Returns the schedule, or undefined if BACKUP_DIR is not set. */
export function readBackupSchedule(
  env: Record<string, string | undefined>,
  database: 'sqlite' | 'postgres',
  nameOf: (variable: SettingName) => string,
): BackupSchedule | undefined {
  const { BACKUP_DIR: dir, BACKUP_EVERY: every, BACKUP_KEEP: keep } = env;
  if (dir === undefined) {
    const name = every !== undefined ? 'BACKUP_EVERY' : keep !== undefined ? 'BACKUP_KEEP' : undefined;
    if (name) throw new UsageError(`${nameOf(name)} requires BACKUP_DIR or --backup-dir, the folder of the backups`);
    return undefined;
  }
  const folder = nameOf('BACKUP_DIR');
  if (/^\s*$|^~/.test(dir)) throw refuse(folder, dir, 'a folder such as /var/backups/plant-store, without ~');
  if (database === 'postgres') {
    throw new UsageError(
      `${folder} supports SQLite only. Unset it, and back up PostgreSQL with its own tools: see ${docsPage('guides/postgresql.md')}.`,
    );
  }
  return {
    dir,
    everyMs: readInterval(nameOf('BACKUP_EVERY'), every ?? SETTINGS.BACKUP_EVERY.default),
    keep: readNumber(nameOf('BACKUP_KEEP'), keep ?? SETTINGS.BACKUP_KEEP.default, 1, MAX_KEPT),
  };
}

function readInterval(name: string, text: string): number {
  const everyMs = parseDuration(text);
  if (everyMs !== undefined && everyMs >= MIN_EVERY_MS && everyMs <= MAX_EVERY_MS) return everyMs;
  throw refuse(name, text, 'a number and a unit (30m, 1h, 1d), from 10s to 2w');
}
