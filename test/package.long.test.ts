// Tests the npm package as users install it: the command on a plain Node, and the client with its types.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { findWrongFiles } from '../packaging/package-files.ts';
import { clientProgram, tryPackage } from '../packaging/try-package.ts';
import { findNode24, type Installed, installPacked } from '../testing/packed.ts';
import { makeFolder } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
const projectJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { name, version } = projectJson as { name: string; version: string };
const OLD_NODE =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"24.14.9"}})';

let installed: Installed;
before(async () => {
  installed = await installPacked();
});

test('the package contains only the files that it needs', (t) => {
  const { files, unpackedSize } = installed;
  t.diagnostic(`${files.length} files, ${unpackedSize} bytes unpacked`);
  assert.deepEqual(findWrongFiles(installed), []);
});

test('a file that is missing or does not belong in the package is found', () => {
  const pictures = installed.files.filter(({ path }) => path.endsWith('.png'));
  const pictureBytes = pictures.reduce((sum, { size }) => sum + size, 0);
  const files = installed.files.filter(({ path }) => path !== 'docs/alerts.yml');
  files.push({ path: 'docs/screenshots/large.png', size: 9e6 });
  for (const path of ['src/main.ts', '.env', 'dist/main.test.js', 'dist/http/server.ts']) files.push({ path, size: 1 });
  assert.deepEqual(findWrongFiles({ files, unpackedSize: 1e9 + 9e6 + pictureBytes }), [
    'src/main.ts does not belong in the package',
    '.env does not belong in the package',
    'dist/main.test.js does not belong in the package',
    'dist/http/server.ts does not belong in the package',
    'docs/alerts.yml is missing',
    '1000000000 bytes unpacked, more than 3500000',
    `${9e6 + pictureBytes} bytes of pictures, more than 4000000`,
  ]);
});

test('the package contains no Node and names it only in engines', () => {
  const installedJson = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'));
  assert.deepEqual(installedJson.engines, { node: '>=24.15.0' });
  assert.equal(installedJson.optionalDependencies, undefined);
  assert.equal(installedJson.private, undefined);
  assert.deepEqual(installedJson.dependencies, projectJson.dependencies);
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(installedJson.scripts[name], undefined, `npm would warn of ${name} at each install from a file`);
  }
});

test("the installed package serves from an empty folder on the project's Node", () => use(process.execPath));

const node24 = findNode24();
test(
  'the installed package serves from an empty folder on Node 24',
  {
    skip: node24 === undefined && 'SKIPPED: Node 24 is missing: run npm run package (downloads 50 MB)',
  },
  () => use(node24 ?? ''),
);

test('an older Node prints one line with the required version', () => {
  const launcher = join(packageFolder(), 'bin/plant-store.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', OLD_NODE, launcher, 'serve'], {
    encoding: 'utf8',
  });
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  assert.match(
    stderr,
    /^plant-store: Node 24\.15 or newer is required, not v[\d.]+\. Install it from https:\/\/nodejs\.org\.\n$/,
  );
});

test('a message names a page that the package contains', () => {
  const launcher = join(packageFolder(), 'bin/plant-store.js');
  const env = { PATH: process.env.PATH, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
  const { stderr } = spawnSync(process.execPath, [launcher, 'backup', 'x.db'], { env, encoding: 'utf8' });
  const [, page = ''] = /: see (\/.+\.md)\.\n$/.exec(stderr) ?? [];
  assert.match(readFileSync(page, 'utf8'), /^# /m, stderr);
});

test('the command that a message recommends runs, also after npx has provided the Node', () => {
  const bin = join(installed.folder, 'node_modules/.bin');
  const old = makeFolder();
  writeFileSync(join(old, 'node'), '#!/bin/sh\necho too old\n', { mode: 0o755 });
  const shell = { PATH: `${old}:/usr/bin:/bin`, HOME: old };
  const { stderr } = spawnSync(process.execPath, [join(bin, name), 'list'], {
    cwd: installed.folder,
    env: { ...shell, PATH: `${bin}:${shell.PATH}` },
    encoding: 'utf8',
  });
  const [, command = ''] = /Run "(.+?) token create/.exec(stderr) ?? [];
  assert.equal(execFileSync('sh', ['-c', `${command} --version`], { env: shell, encoding: 'utf8' }), `${version}\n`);
});

test('the program runs without a compile cache if no folder is writable', () => {
  const launcher = join(packageFolder(), 'bin/plant-store.js');
  for (const env of [{}, { HOME: join(launcher, 'home') }]) {
    const { status, stderr } = spawnSync(process.execPath, [launcher, '--version'], { env, encoding: 'utf8' });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  }
});

test('a TypeScript program compiles against the types of the client', () => {
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(installed.folder, 'node_modules', name), 'dir');
  writeFileSync(join(installed.folder, 'program.ts'), clientProgram(name));
  const options = '--noEmit --strict --skipLibCheck --target esnext --module nodenext --types node'.split(' ');
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'program.ts'], {
    cwd: installed.folder,
    stdio: 'inherit',
  });
});

function use(node: string): Promise<void> {
  return tryPackage({ folder: installed.folder, name, version }, node);
}

function packageFolder(): string {
  return join(installed.folder, 'node_modules', name);
}
