// Counts the files and connections that the process has open, and their limit. Available only on Linux.

import { readdir, readFile } from 'node:fs/promises';

/** Open files and connections of the process. */
export interface OpenFiles {
  open: number;
  /** The limit, or undefined if it is unlimited. */
  max: number | undefined;
}

/** Returns the open files, or undefined on systems other than Linux. */
export async function countOpenFiles(): Promise<OpenFiles | undefined> {
  try {
    const [names, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')]);
    const max = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return { open: names.length, max: max === undefined ? undefined : Number(max) };
  } catch {
    return undefined;
  }
}
