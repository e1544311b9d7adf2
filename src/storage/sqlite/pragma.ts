// Reads and sets SQLite pragmas.

import type { DatabaseSync } from 'node:sqlite';

/** Runs a pragma and returns its first value. */
export function pragma(db: DatabaseSync, text: string): unknown {
  return Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];
}
