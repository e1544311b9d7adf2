// Checks that the database files that this process has open still have their names, and restores a lost name.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectory } from './file-location.ts';

const CHUNK_BYTES = 1024 * 1024;
const MAX_DESCRIPTORS = 4096;

export type OwnFile = { name: string; dev: number; ino: number };

export function identify(name: string): OwnFile {
  const { dev, ino } = statSync(name);
  return { name, dev, ino };
}

/** Returns the first file that lost its name. SQLite would continue to write to such a file. */
export function findLost(files: OwnFile[]): OwnFile | undefined {
  return files.find(({ name, dev, ino }) => {
    const now = statSync(name, { throwIfNoEntry: false });
    return now?.ino !== ino || now.dev !== dev;
  });
}

/**
 * Copies the content of a file that SQLite still has open to the file's lost name. For the WAL this is safer than a
 * checkpoint, which would have to wait for all readers. An incomplete checkpoint without its WAL leaves the database
 * damaged.
 */
export function saveFile(lost: OwnFile): void {
  const draft = `${lost.name}.saved`;
  rmSync(draft, { force: true });
  const source = findDescriptor(lost);
  const target = openSync(draft, 'wx', 0o600);
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0, length = -1; length !== 0; at += length) {
    length = readSync(source, chunk, 0, CHUNK_BYTES, at);
    writeSync(target, chunk, 0, length);
  }
  fsyncSync(target);
  closeSync(target);
  if (existsSync(lost.name)) renameSync(lost.name, `${lost.name}.replaced`);
  renameSync(draft, lost.name);
  syncDirectory(dirname(draft));
}

/** Finds SQLite's descriptor of the file. It is one of the first, because SQLite opens the file at the start. */
function findDescriptor({ dev, ino }: OwnFile): number {
  for (let descriptor = 0; descriptor < MAX_DESCRIPTORS; descriptor++) {
    try {
      const open = fstatSync(descriptor);
      if (open.ino === ino && open.dev === dev) return descriptor;
    } catch {
      // The descriptor is not in use.
    }
  }
  throw new Error('SQLite does not have the file open');
}
