// Which SQLite is safe to use. Node brings its own; some systems build Node with theirs, so the library itself is asked.

import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';

/** Before it, two connections can corrupt a log that is just being reset. */
const NEEDED = [3, 51, 3];

export function sqliteVersion(): string {
  const db = new DatabaseSync(':memory:');
  try {
    return String(db.prepare('SELECT sqlite_version() AS version').get()?.version);
  } finally {
    db.close();
  }
}

/** Throws UserError. */
export function requireMinVersion(version: string): void {
  const parts = version.split('.').map(Number);
  const at = NEEDED.findIndex((needed, index) => (parts[index] ?? 0) !== needed);
  if (at === -1 || (parts[at] ?? 0) > (NEEDED[at] ?? 0)) return;
  throw new UserError(
    `This Node has SQLite ${version}, which can corrupt a database (${NEEDED.join('.')} is needed): use Node 24.15, 26 or newer`,
  );
}
