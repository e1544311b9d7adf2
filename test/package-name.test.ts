// The name and the version of the package are those of package.json everywhere else.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { versionsInTexts } from '../packaging/release/set-version.ts';

const ROOT = join(import.meta.dirname, '..');
const { name, version } = JSON.parse(read('package.json')) as { name: string; version: string };
const TEXTS = globSync(
  ['*.md', '{bench,bin,console,docs,packaging,src,test,testing,torture}/**/*.{js,md,service,ts,tsx}'],
  { cwd: ROOT },
);
const PAGES = TEXTS.filter((file) => file.endsWith('.md'));
/** Defines how users call the command, and has its own test. */
const COMMAND_NAME = 'src/config/command-name.ts';

test('every import of the client, and its path for the console, has the name of the package', () => {
  const imports = findAll(TEXTS, /from '((?:@[\w.-]+\/)?\w[\w.-]*)\/client'/g);
  assert.ok(imports.length > 50);
  assert.deepEqual(unlike(imports, name), []);
  assert.ok(`${name}/client` in JSON.parse(read('console/tsconfig.json')).compilerOptions.paths);
});

test('the lockfile, and every path of an installed package, has the name of the package', () => {
  const { name: locked, packages } = JSON.parse(read('package-lock.json'));
  assert.deepEqual([locked, packages[''].name], [name, name]);
  const paths = findAll([...PAGES, 'packaging/plant-store.service'], /lib\/node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//g);
  assert.ok(paths.length >= 2);
  assert.deepEqual(unlike(paths, name), []);
});

test('every package file in the docs has the name of the package', () => {
  const files = findAll(PAGES, /([\w.-]+?)-(?:\d+\.\d+\.\d+|VERSION)\.tgz/g);
  assert.ok(files.length > 5);
  assert.deepEqual(unlike(files, name.replace('@', '').replace('/', '-')), []);
});

test('every file that names the version of the project has that of package.json', () => {
  const versions = versionsInTexts(ROOT);
  const files = new Set(versions.map(({ file }) => file));
  assert.ok(files.has('docs/guides/install.md'));
  assert.deepEqual(
    versions.filter((each) => each.version !== version),
    [],
  );
  for (const file of ['packaging/node/package.json', 'package-lock.json'])
    assert.equal(JSON.parse(read(file)).version, version, file);
});

test('no text tells users to get the package from the registry, where it is not published yet', () => {
  const told = TEXTS.filter((file) => file !== COMMAND_NAME && !file.endsWith('.test.ts')).flatMap((file) =>
    commandsForRegistry(read(file)).map((command) => ({ file, command })),
  );
  assert.deepEqual(told, []);
});

test('a command that gets the package from the registry is found', () => {
  const commands = [
    `npx ${name} serve`,
    `npm install -g ${name}`,
    `npm i ${name}@1.2.3`,
    `npx -p node@24 -p ${name} x`,
  ];
  assert.deepEqual(commandsForRegistry(`Run \`${commands.join('` or `')}\`.`), commands);
  const others = ['npx ./plant-store-0.1.0.tgz serve', `npx -p ./x.tgz ${name} serve`, 'npm install'];
  assert.deepEqual(commandsForRegistry(others.join('\n')), []);
});

/** Returns the npm commands in a text that name the package and not a file. */
function commandsForRegistry(text: string): string[] {
  const commands = [...text.matchAll(/\b(?:npx|npm (?:add|exec|i|install|x))(?: +[^\s`'"&|;]+)+/g)].map(([all]) => all);
  return commands.filter((command) => {
    const words = command.split(/ +/);
    return words.some((word) => word === name || word.startsWith(`${name}@`)) && !command.includes('.tgz');
  });
}

interface Finding {
  file: string;
  found: string;
}

/** Returns the first group of every match in these files. */
function findAll(files: string[], pattern: RegExp): Finding[] {
  return files.flatMap((file) => [...read(file).matchAll(pattern)].map(([, found = '']) => ({ file, found })));
}

function unlike(findings: Finding[], expected: string): Finding[] {
  return findings.filter(({ found }) => found !== expected);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
