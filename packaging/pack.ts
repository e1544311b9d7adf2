// Builds the npm package in a copy of the project, and installs a package into an empty folder, as a user does.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnvironment } from './plain-environment.ts';
import { runCommand } from './run-command.ts';

const INSTALL_WITHIN_MS = 90_000;

export interface PackedFile {
  path: string;
  size: number;
}

export interface Packed {
  /** Path of the .tgz file. */
  tarball: string;
  files: PackedFile[];
  unpackedSize: number;
}

/** Builds and packs the project in this folder, which has its dependencies in node_modules. */
export async function packProject(folder: string): Promise<Packed> {
  const options = { cwd: folder, env: plainEnvironment(process.execPath) };
  await runCommand(process.execPath, ['bin/build.js'], options);
  const printed = await runCommand('npm', ['pack', '--json', '--ignore-scripts'], options);
  const { filename, files, unpackedSize } = readPacked(printed);
  return { tarball: join(folder, filename), files, unpackedSize };
}

/** Installs a package with its dependencies into a new folder. */
export async function installPackage(tarball: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const options = ['--omit=optional', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const env = plainEnvironment(process.execPath);
  await runCommand('npm', ['install', ...options, tarball], { cwd: folder, env, timeout: INSTALL_WITHIN_MS });
}

/** Reads what `npm pack --json` prints: an array from npm 11, an object by name from npm 12. */
export function readPacked(json: string): { filename: string; files: PackedFile[]; unpackedSize: number } {
  const [packed] = Object.values(JSON.parse(json));
  return packed as ReturnType<typeof readPacked>;
}
