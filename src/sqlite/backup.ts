// A consistent copy of a store that may be in use, and the way back. Each file is made under another name first, so
// that it is there only when it is whole and checked.

import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Refusal } from '../refusal.ts';
import { inspectDatabase, openReader } from './database.ts';
import { takeLock } from './lock.ts';
import { preparePlace, syncDirectory } from './place.ts';

/** Far more than can have been written after the backup: no number that was given since then comes again. */
const SKIPPED_NUMBERS = 1_000_000_000;

/** Reads as one transaction: what is written meanwhile is not in it. Throws Refusal. */
export async function backUpDatabase(path: string, file: string): Promise<void> {
  await makeWhole(file, (draft) => {
    const db = openReader(path);
    try {
      db.prepare('VACUUM INTO ?').run(draft);
    } finally {
      db.close();
    }
    chmodSync(draft, 0o600);
    inspectDatabase(draft);
  });
}

/** Refuses where there is a store, or a server. Throws Refusal. */
export async function restoreDatabase(file: string, givenPath: string): Promise<void> {
  const path = preparePlace(givenPath);
  const lock = takeLock(path);
  if (!lock) throw new Refusal(`A server is using ${givenPath}: stop it first`);
  try {
    for (const present of [path, `${path}-wal`]) {
      if (existsSync(present)) throw new Refusal(`${present} is there already: move it away first`);
    }
    if (existsSync(`${file}-wal`)) {
      throw new Refusal(`${file} is a store in use, not a backup: there is ${file}-wal beside it`);
    }
    await makeWhole(path, (draft) => {
      copyFileSync(file, draft, constants.COPYFILE_FICLONE);
      chmodSync(draft, 0o600);
      inspectDatabase(draft);
      skipNumbers(draft);
    });
  } finally {
    lock.release();
  }
}

async function makeWhole(file: string, make: (draft: string) => void): Promise<void> {
  const draft = `${file}.part`;
  try {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
    make(draft);
    const descriptor = openSync(draft, 'r+');
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(draft, file);
    syncDirectory(dirname(file));
  } catch (error) {
    for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(draft + suffix, { force: true });
    if (error instanceof Refusal) throw error;
    throw new Refusal(`Cannot write ${file}: ${(error as Error).message}`);
  }
}

/** Whoever follows the log, or holds an ETag, may have seen numbers that this copy does not know. */
function skipNumbers(path: string): void {
  const db = new DatabaseSync(path);
  const { user_version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.exec('PRAGMA journal_mode = DELETE; BEGIN IMMEDIATE');
  if (user_version >= 2) {
    db.exec(`UPDATE numbering SET pruned_to =
      max(pruned_to, coalesce((SELECT max(seq) FROM changes), 0)) + ${SKIPPED_NUMBERS}`);
  } else {
    db.exec(`UPDATE sqlite_sequence SET seq = seq + ${SKIPPED_NUMBERS} WHERE name = 'changes'`);
  }
  db.exec('COMMIT');
  db.close();
}
