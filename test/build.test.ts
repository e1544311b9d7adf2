// bin/build.js with tools that only inspect the folder: dist/ is complete until it is replaced, and stays when a tool fails.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../testing/server.ts';

const BIN = join(import.meta.dirname, '../bin');
const TOOLS = ['typescript/bin/tsc', 'vite/bin/vite.js'];
const SOURCES = [
  'src/note.sql',
  'console/index.html',
  'examples/species.csv',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.client.json',
];

/** Creates a project in which each tool runs this code. */
function makeProject(tool: string): string {
  const root = makeFolder();
  const files: [path: string, text: string][] = [
    ['dist/old.js', 'old'],
    ['package.json', '{"type":"module"}'],
    ...SOURCES.map((path): [string, string] => [path, '']),
    ...TOOLS.map((path): [string, string] => [`node_modules/${path}`, tool]),
  ];
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  cpSync(BIN, join(root, 'bin'), { recursive: true, verbatimSymlinks: true });
  return root;
}

function build(root: string): number | null {
  return spawnSync(process.execPath, ['bin/build.js'], { cwd: root, stdio: 'inherit' }).status;
}

function foldersOf(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

const OWN_FOLDERS = ['bin', 'console', 'dist', 'examples', 'node_modules', 'src'];

test('dist/ is unchanged until the tools finish, is then replaced, and no temporary folder remains', () => {
  const root = makeProject(`
    const fs = require('node:fs');
    if (fs.readFileSync(__dirname + '/../../../dist/old.js', 'utf8') !== 'old') process.exit(7);
    fs.mkdirSync('dist', { recursive: true });
    fs.writeFileSync('dist/new.js', 'new');`);
  assert.equal(build(root), 0);
  assert.deepEqual(readdirSync(join(root, 'dist')).sort(), ['new.js', 'note.sql']);
  assert.deepEqual(foldersOf(root), OWN_FOLDERS);
});

test('when a tool fails, dist/ is unchanged and no temporary folder remains', () => {
  const root = makeProject('process.exit(5)');
  assert.equal(build(root), 5);
  assert.equal(readFileSync(join(root, 'dist/old.js'), 'utf8'), 'old');
  assert.deepEqual(foldersOf(root), OWN_FOLDERS);
});
