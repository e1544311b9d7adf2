// Installs the tools of package.json in this folder, outside of the repository, and caches them.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CACHE =
  process.env.PLANT_STORE_INTEROP_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plant-store-interop');
const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const WITHIN_MS = 15 * 60_000;

/** `npm run` passes the folder of the project to child processes in these variables. */
const withoutNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/** The environment in which the tools run: with the Node of the project. */
export const TOOL_ENV = { ...withoutNpm, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, NO_COLOR: '1' };

/** Returns the folder with `node_modules`. Its name changes with the lockfile. */
export async function installTools(): Promise<string> {
  const lock = readFileSync(join(import.meta.dirname, 'package-lock.json'));
  const folder = join(CACHE, createHash('sha256').update(lock).digest('hex').slice(0, 16));
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}`;
  mkdirSync(partial, { recursive: true });
  for (const file of FILES) copyFileSync(join(import.meta.dirname, file), join(partial, file));
  try {
    await promisify(execFile)('npm', ['ci', '--ignore-scripts'], {
      cwd: partial,
      env: TOOL_ENV,
      maxBuffer: 64 * 1024 * 1024,
      timeout: WITHIN_MS,
    });
    renameSync(partial, folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  return folder;
}
