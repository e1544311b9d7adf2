// Builds the npm package from the current sources and installs it into an empty folder, as a user does.

import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { installPackage, type Packed, packProject } from '../packaging/pack.ts';
import { makeFolder } from './server.ts';

const ROOT = join(import.meta.dirname, '..');
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', 'dist', 'release']);

export interface Installed extends Packed {
  /** Folder in which the package is installed. */
  folder: string;
}

/** Builds and installs in a copy, so that dist/ stays complete for other tests. */
export async function installPacked(): Promise<Installed> {
  const copy = copyProject();
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir');
  const packed = await packProject(copy);
  const folder = makeFolder();
  await installPackage(packed.tarball, folder);
  return { ...packed, folder };
}

/** Copies the sources of the project into a new folder, or the given one. Returns the folder. */
export function copyProject(copy = makeFolder()): string {
  const filter = (path: string) => !LEFT_OUT.has(relative(ROOT, path));
  cpSync(ROOT, copy, { recursive: true, verbatimSymlinks: true, filter });
  return copy;
}

/** Returns the Node 24 that "npm run package" has downloaded, if any. */
export function findNode24(): string | undefined {
  const node = join(ROOT, 'node_modules/.cache/node-24/node_modules', 'node-24/bin/node');
  return existsSync(node) ? node : undefined;
}
