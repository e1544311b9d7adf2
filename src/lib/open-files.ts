// How many files and connections the process has open, and may have. Only Linux tells.

import { readdir, readFile } from 'node:fs/promises';

export interface OpenFiles {
  open: number;
  /** Not there where it is unlimited. */
  max: number | undefined;
}

export async function countOpenFiles(): Promise<OpenFiles | undefined> {
  try {
    const [names, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')]);
    const max = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return { open: names.length, max: max === undefined ? undefined : Number(max) };
  } catch {
    return undefined;
  }
}
