// Runs in its own thread and fills the draft file of a backup or of a restored store. This takes minutes for a large
// store, and the process must still react to signals.

import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { markCopy, skipNumbers } from './change-numbers.ts';
import { openReader, verifyCopy } from './database.ts';
import { migrate } from './schema.ts';

const CHUNK_BYTES = 1024 * 1024;

/** The work of the thread. `draft` is an empty file. */
export type Filling = { does: 'back up' | 'restore'; from: string; draft: string };

const { does, from, draft } = workerData as Filling;
const url = pathToFileURL(draft);
url.searchParams.set('mode', 'rw'); // otherwise SQLite recreates a draft that a signal handler just removed

if (does === 'back up') backUp();
else await restore();
const file = openSync(draft, 'r+');
fsyncSync(file);
closeSync(file);

/** Copies the store in one read transaction, so that the copy excludes later writes. */
function backUp(): void {
  const db = openReader(from);
  db.prepare('VACUUM INTO ?').run(url.href);
  db.close();
  changeDraft(markCopy);
  verifyCopy(draft);
}

async function restore(): Promise<void> {
  await pipeline(
    createReadStream(from, { highWaterMark: CHUNK_BYTES }),
    createWriteStream(draft, { flags: 'r+' }), // keeps the draft's mode; copyFile() would apply the backup's mode
  );
  changeDraft((db) => {
    migrate(db);
    skipNumbers(db);
  });
}

/** Changes the draft without a journal on disk, because an incomplete draft is discarded. */
function changeDraft(change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(url);
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA journal_mode = MEMORY'); // a copy of a store in use is in WAL mode
  change(db);
  db.close();
}
