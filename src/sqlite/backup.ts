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
import { hasLog, inspectDatabase, migrate, openReader } from './database.ts';
import { takeLock } from './lock.ts';
import { skipNumbers } from './numbering.ts';
import { preparePlace, syncDirectory } from './place.ts';

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
  if (hasLog(file)) throw new Refusal(`${file} is a store in use, not a backup: there is ${file}-wal beside it`);
  inspectDatabase(file);
  const path = preparePlace(givenPath);
  const lock = takeLock(path);
  if (!lock) throw new Refusal(`A server is using ${givenPath}: stop it first`);
  try {
    if (existsSync(path)) throw new Refusal(`${path} is there already: move it away first`);
    if (hasLog(path)) throw new Refusal(`${path}-wal is there already: move it away first`);
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    await makeWhole(path, (draft) => {
      copyFileSync(file, draft, constants.COPYFILE_FICLONE);
      chmodSync(draft, 0o600);
      const db = new DatabaseSync(draft);
      db.exec('PRAGMA journal_mode = DELETE');
      migrate(db);
      skipNumbers(db);
      db.close();
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
