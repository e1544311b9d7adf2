// The parts of "npm run release" that build nothing. test/release.long.test.ts runs the whole command.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArguments } from '../packaging/release/arguments.ts';
import { findSection } from '../packaging/release/changelog.ts';
import { setVersion, versionsInTexts } from '../packaging/release/set-version.ts';
import { UsageError } from '../src/lib/user-error.ts';
import { makeFolder } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
const VERSIONED = [
  'CHANGELOG.md',
  'Dockerfile',
  'README.md',
  'compose.yaml',
  'docs/guides',
  'package-lock.json',
  'package.json',
  'packaging/node/package.json',
];
const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2026-01-01\n\n- The start.\n';
const { version: current } = JSON.parse(read(ROOT, 'package.json')) as { version: string };

/** Returns a folder with the files that name the version, and a changelog with one unreleased change. */
function makeProject({ changelog = CHANGELOG } = {}): string {
  const root = makeFolder();
  for (const path of VERSIONED) cpSync(join(ROOT, path), join(root, path), { recursive: true });
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  return root;
}

test('a wrong command line of a release is one clear line', () => {
  for (const [args, message] of [
    [['--publish'], /^Unknown option '--publish'\. Add --help/],
    [['--out'], /^Option '--out <value>' argument missing\. Add --help/],
    [['--out', ''], /^--out must name a folder$/],
    [['--allow-dirty=yes'], /^Option '--allow-dirty' does not take an argument\. Add --help/],
    [['0.2.0', '0.3.0'], /^Only one VERSION is possible, not 2$/],
    [['0.2.0', '--out', 'x'], /^--out has no effect with VERSION/],
  ] as const) {
    assert.throws(
      () => readArguments([...args]),
      (error: Error) => error instanceof UsageError && message.test(error.message) && !error.message.includes('\n'),
      args.join(' '),
    );
  }
});

test('a new version is written into every file that has the old one, and changes nothing else', () => {
  const root = makeProject();
  const changed = setVersion(root, '9.8.7', '2026-02-03');
  for (const file of changed.filter((each) => each !== 'CHANGELOG.md'))
    assert.equal(read(root, file).replaceAll('9.8.7', current), read(ROOT, file), file);
  const expected = [
    'CHANGELOG.md',
    'package.json',
    'package-lock.json',
    'packaging/node/package.json',
    ...new Set(versionsInTexts(root).map(({ file }) => file)),
  ];
  assert.deepEqual(changed, expected);
  assert.equal(
    read(root, 'CHANGELOG.md'),
    CHANGELOG.replace('[Unreleased]\n', '[Unreleased]\n\n## [9.8.7] - 2026-02-03\n'),
  );
  assert.equal(
    findSection(read(root, 'CHANGELOG.md'), '9.8.7'),
    '## [9.8.7] - 2026-02-03\n\n### Added\n\n- A thing.\n',
  );
});

test('a version that cannot be released changes nothing', () => {
  const released = CHANGELOG.replace('[Unreleased]\n', `[Unreleased]\n\n## [${current}] - 2026-02-02\n`);
  for (const [version, message, changelog = CHANGELOG] of [
    ['next', /^VERSION must have three numbers, such as 0\.2\.0, not "next"$/],
    ['v9.8.7', /^VERSION must have three numbers/],
    ['9.08.7', /^VERSION must have three numbers/],
    ['9.8.7-rc.1', /^VERSION must have three numbers/],
    ['0.0.2', /^VERSION 0\.0\.2 is lower than /],
    [current, /^CHANGELOG\.md already has an entry for /, released],
    ['9.8.7', /^CHANGELOG\.md has no changes under \[Unreleased\] to release$/, released],
    ['9.8.7', /^CHANGELOG\.md has no section \[Unreleased\]$/, '# Changelog\n'],
  ] as const) {
    const root = makeProject({ changelog });
    assert.throws(
      () => setVersion(root, version, '2026-02-03'),
      (error: Error) => error instanceof UsageError && message.test(error.message),
      version,
    );
    assert.equal(read(root, 'CHANGELOG.md'), changelog);
    assert.equal(read(root, 'package.json'), read(ROOT, 'package.json'));
  }
});

test('the version of package.json can be prepared until the changelog has an entry for it', () => {
  const root = makeProject();
  assert.deepEqual(setVersion(root, current, '2026-02-03'), ['CHANGELOG.md']);
});

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
