// Runs in a thread of its own and fills the draft of a backup or of a restored store: each takes minutes for a large
// store, in which the process must still notice a signal.

import { closeSync, createReadStream, createWriteStream, fsyncSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { workerData } from 'node:worker_threads';
import { markCopy, skipNumbers } from './change-numbers.ts';
import { inspectDatabase, migrate, openReader } from './database.ts';

const CHUNK_BYTES = 1024 * 1024;

/** `draft` is an empty file. */
export type Filling = { does: 'back up' | 'restore'; from: string; draft: string };

const { does, from, draft } = workerData as Filling;
const url = pathToFileURL(draft);
url.searchParams.set('mode', 'rw'); // SQLite would create a draft that a signal has just removed

if (does === 'back up') backUp();
else await restore();
const file = openSync(draft, 'r+');
fsyncSync(file);
closeSync(file);

/** Reads in one transaction: the copy has nothing that is written meanwhile. */
function backUp(): void {
  const db = openReader(from);
  db.prepare('VACUUM INTO ?').run(url.href);
  db.close();
  changeDraft(markCopy);
  inspectDatabase(draft);
}

async function restore(): Promise<void> {
  await pipeline(
    createReadStream(from, { highWaterMark: CHUNK_BYTES }),
    createWriteStream(draft, { flags: 'r+' }), // it keeps its mode, where copyFile() would take that of the backup
  );
  changeDraft((db) => {
    migrate(db);
    skipNumbers(db);
  });
}

/** Without a journal on the disk: a draft that is not whole is thrown away. */
function changeDraft(change: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(url);
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA journal_mode = MEMORY'); // a copy of a used store is in WAL mode
  change(db);
  db.close();
}
