// Makes the base images that Dockerfile and compose.yaml name, from Debian packages and npm packages: tests must not
// depend on an image registry. Each image is kept until its recipe changes.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCommand } from '../find-command.ts';
import { copyPostgres } from '../postgres.ts';
import { CACHE, podman, podmanOutput } from './engine.ts';

const NPM = 'npm@11.21.1';
const DEBIAN = 'trixie';
const DEBIAN_PACKAGES = { node: 'libatomic1', postgres: 'postgresql-client' };
const ENTRYPOINT = 'postgres-entrypoint.sh';

const execute = promisify(execFile);

/** Makes the image of Node for this version, unless it exists. Returns its name. */
export function makeNodeImage(version: string): Promise<string> {
  return makeImage(`docker.io/library/node:${version}-trixie-slim`, 'node.Dockerfile', async (folder) => {
    if (process.versions.node !== version) throw new Error(`the tests run on Node ${process.versions.node}`);
    await extractDebian(folder, DEBIAN_PACKAGES.node);
    copyFileSync(process.execPath, join(folder, 'node'));
    const { stdout } = await execute('npm', ['pack', '--silent', NPM], { cwd: folder });
    mkdirSync(join(folder, 'npm'));
    await execute('tar', ['-xzf', stdout.trim(), '-C', 'npm', '--strip-components=1'], { cwd: folder });
  });
}

/** Makes the image of PostgreSQL, unless it exists. Returns its name. */
export function makePostgresImage(): Promise<string> {
  return makeImage('docker.io/library/postgres:18', 'postgres.Dockerfile', async (folder) => {
    await extractDebian(folder, DEBIAN_PACKAGES.postgres);
    copyPostgres(folder);
    copyFileSync(join(import.meta.dirname, ENTRYPOINT), join(folder, 'entrypoint.sh'));
  });
}

async function makeImage(name: string, dockerfile: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const recipe = recipeOf(dockerfile);
  const kept = await podman('image', 'inspect', '--format={{index .Labels "recipe"}}', name);
  if (kept.stdout.trim() === recipe) return name;
  if (kept.status === 0) await podmanOutput('image', 'rm', name);
  const folder = mkdtempSync(join(CACHE, 'making-'));
  try {
    await fill(folder);
    const file = join(import.meta.dirname, dockerfile);
    await podmanOutput(
      'build',
      '--layers=false',
      `--label=recipe=${recipe}`,
      `--file=${file}`,
      `--tag=${name}`,
      folder,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return name;
}

/** Returns a text that changes with everything that is put into the image. */
function recipeOf(dockerfile: string): string {
  const hash = createHash('sha256').update(JSON.stringify([DEBIAN, DEBIAN_PACKAGES, NPM]));
  for (const file of [dockerfile, ENTRYPOINT]) hash.update(readFileSync(join(import.meta.dirname, file)));
  return hash.digest('hex');
}

async function extractDebian(folder: string, packages: string): Promise<void> {
  if (findCommand('mmdebstrap') === undefined) throw new Error('mmdebstrap is missing');
  const options = ['--variant=minbase', '--quiet', `--include=${packages}`];
  await execute('mmdebstrap', [...options, DEBIAN, join(folder, 'debian.tar')]);
}
