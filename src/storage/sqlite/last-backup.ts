// Notes the last backup in a small file beside the database. A row in the database would make the backup command write
// to a store that it otherwise only reads, for example after a crash whose cause is still unknown.

import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { LastBackup } from '../../domain/store.ts';
import { newDraftPath } from '../../lib/draft-path.ts';

const SUFFIX = '.last-backup';

/** Notes a complete backup of the database at `path`, whose symbolic links are resolved. */
export function noteBackup(path: string, { timeMs, bytes }: LastBackup): void {
  const note = `${path}${SUFFIX}`;
  const draft = newDraftPath(note);
  try {
    const text = `${JSON.stringify({ time: new Date(timeMs).toISOString(), bytes })}\n`;
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    renameSync(draft, note);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Returns the noted backup, or null if there is none or the note cannot be read. */
export async function readLastBackup(path: string): Promise<LastBackup | null> {
  const note = `${path}${SUFFIX}`;
  try {
    if (!(await stat(note)).isFile()) return null; // opening a pipe would block
    const { time, bytes } = JSON.parse(await readFile(note, 'utf8')) as { time: string; bytes: number };
    const timeMs = Date.parse(time);
    return Number.isSafeInteger(bytes) && bytes >= 0 && !Number.isNaN(timeMs) ? { timeMs, bytes } : null;
  } catch {
    return null;
  }
}
