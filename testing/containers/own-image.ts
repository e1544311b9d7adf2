// Builds the image of the project with its Dockerfile, from a copy of the checkout that also has files that must not get
// into the image.

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { makeFolder } from '../server.ts';
import { CACHE, podman, type Ran } from './engine.ts';

const ROOT = join(import.meta.dirname, '../..');
const LEFT_OUT = new Set(['.git', 'node_modules', 'data', 'dist']);
/** npm reads this file after the user's and before its defaults. */
const NPM_SETTINGS = '/usr/local/etc/npmrc';
const NPM_AUTHORITIES = '/usr/local/etc/npm-authorities.crt';

/** Text in every file that must not get into the image. */
export const SECRET = 'a-secret-of-the-checkout';
const SECRET_FILES = ['.env', '.git/config', 'data/plants.db', 'console/node_modules/own.js', 'plants-backup.db'];

/** Copies the checkout. Only the owner can read its files, as with umask 077. */
export function copyCheckout(): string {
  const folder = makeFolder();
  cpSync(ROOT, folder, { recursive: true, filter: (path) => !LEFT_OUT.has(relative(ROOT, path)) });
  for (const file of SECRET_FILES) {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(join(folder, file), `PASSWORD=${SECRET}\n`);
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
  }
  return folder;
}

/** Builds the image from a folder. Base images are never pulled. */
export function buildOwnImage(folder: string, ...tags: string[]): Promise<Ran> {
  const options = ['--pull=never', '--layers=false', '--network=host', ...tags.map((tag) => `--tag=${tag}`)];
  return podman('build', ...options, ...registryOptions(), folder);
}

/** Returns mounts with which npm in the build uses the registry and the cache as on this machine. */
function registryOptions(): string[] {
  const settings = JSON.parse(execFileSync('npm', ['config', 'list', '--json'], { encoding: 'utf8' }));
  const authorities = settings.cafile ?? process.env.NODE_EXTRA_CA_CERTS;
  const used = ['registry', 'proxy', 'https-proxy', 'noproxy'].filter((name) => settings[name]?.length > 0);
  const lines = [...used.map((name) => `${name}=${settings[name]}`), 'update-notifier=false'];
  const mounts: [string, string][] = [];
  if (authorities !== undefined && existsSync(authorities)) {
    lines.push(`cafile=${NPM_AUTHORITIES}`);
    mounts.push([authorities, `${NPM_AUTHORITIES}:ro`]);
  }
  const npmrc = join(makeFolder(), 'npmrc');
  writeFileSync(npmrc, `${lines.join('\n')}\n`);
  mkdirSync(join(CACHE, 'npm'), { recursive: true });
  mounts.push([npmrc, `${NPM_SETTINGS}:ro`], [join(CACHE, 'npm'), '/root/.npm']);
  return mounts.map(([here, there]) => `--volume=${here}:${there}`);
}
