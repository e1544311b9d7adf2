// Opens the input of an import: a file, or standard input.

import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openAsBlob,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { UserError } from '../lib/user-error.ts';

const CHUNK_BYTES = 64 * 1024;

export interface ImportInput {
  chunks: Readable;
  /** Path and size of a plain file. Undefined for standard input, a pipe or a device. */
  file: { path: string; bytes: number } | undefined;
}

/** Throws UserError if there is no such file. */
export function openInput(path: string, stdin: Readable): ImportInput {
  if (path === '-') return { chunks: stdin, file: undefined };
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new UserError(`File not found: ${path}`);
  if (stat.isDirectory()) throw new UserError(`${path} is a folder, not a file`);
  const chunks = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  return { chunks, file: stat.isFile() ? { path, bytes: stat.size } : undefined };
}

/** Runs `work` on the whole input, which one request sends. Anything but a plain file is copied to a temporary one. */
export async function withBlob<T>({ chunks, file }: ImportInput, work: (blob: Blob) => Promise<T>): Promise<T> {
  if (file) {
    chunks.destroy();
    accessSync(file.path, constants.R_OK); // its error has the reason
    return work(await openAsBlob(file.path));
  }
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-import-'));
  try {
    const copy = join(folder, 'plants');
    await pipeline(chunks, createWriteStream(copy, { mode: 0o600 }));
    return await work(await openAsBlob(copy));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
