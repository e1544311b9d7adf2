// Checks that the SQLite version is safe. Node includes its own SQLite, but some systems build Node with another one.
// So the version is read from the library itself.

import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';

/** Minimum version. In older versions, two connections can corrupt a WAL during its reset. */
const NEEDED = [3, 51, 3];

export function sqliteVersion(): string {
  const db = new DatabaseSync(':memory:');
  try {
    return String(db.prepare('SELECT sqlite_version() AS version').get()?.version);
  } finally {
    db.close();
  }
}

/** Throws UserError if this SQLite version is too old. */
export function requireMinVersion(version: string): void {
  const parts = version.split('.').map(Number);
  const at = NEEDED.findIndex((needed, index) => (parts[index] ?? 0) !== needed);
  if (at === -1 || (parts[at] ?? 0) > (NEEDED[at] ?? 0)) return;
  throw new UserError(
    `This Node includes SQLite ${version}, which can corrupt a database. SQLite ${NEEDED.join('.')} or newer is required. Use Node 24.15, 26 or newer.`,
  );
}
