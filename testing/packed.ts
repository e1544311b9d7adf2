// Builds the npm package from the current sources and installs it into an empty folder, as a user does.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { makeFolder } from './server.ts';

const ROOT = join(import.meta.dirname, '..');
const INSTALL_WITHIN_MS = 90_000;
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', 'dist']);

export interface PackedFile {
  path: string;
  size: number;
}

export interface Installed {
  /** Folder of the package in node_modules. */
  folder: string;
  files: PackedFile[];
  unpackedSize: number;
}

/** Builds and installs in a copy, so that dist/ stays complete for other tests. */
export function installPacked(): Installed {
  const copy = makeFolder();
  cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(ROOT, path)) });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir');
  const env = plainEnvironment(process.execPath);
  execFileSync(process.execPath, ['bin/build.js'], { cwd: copy, env, stdio: 'inherit' });
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts'], { cwd: copy, env, encoding: 'utf8' });
  const { filename, files, unpackedSize } = readPacked(packed);

  const folder = makeFolder();
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const options = ['--omit=optional', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const limits = { timeout: INSTALL_WITHIN_MS, killSignal: 'SIGKILL' } as const;
  execFileSync('npm', ['install', ...options, join(copy, filename)], { cwd: folder, env, stdio: 'inherit', ...limits });
  return { folder, files, unpackedSize };
}

/** Returns the environment of a machine that has this Node first in PATH and nothing of this project. */
export function plainEnvironment(node: string): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter((place) => !place.includes('node_modules'));
  const kept = Object.entries(process.env).filter(
    ([name]) => leadsToRegistry(name) || /^(home|systemroot)$/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...path].join(delimiter) };
}

/** True if npm may need this setting to reach its registry, such as the certificate of a proxy. */
export function leadsToRegistry(name: string): boolean {
  return /^(npm_config_(registry|userconfig|globalconfig|cache|cafile|(https_?|no)?_?proxy)|(https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i.test(
    name,
  );
}

/** Returns the Node 24 that "npm run package" has downloaded, if any. */
export function findNode24(): string | undefined {
  const node = join(ROOT, 'node_modules/.cache/node-24/node_modules', 'node-24/bin/node');
  return existsSync(node) ? node : undefined;
}

/** npm 11 prints an array, npm 12 an object by name. */
function readPacked(json: string): { filename: string; files: PackedFile[]; unpackedSize: number } {
  const [packed] = Object.values(JSON.parse(json));
  return packed as ReturnType<typeof readPacked>;
}
