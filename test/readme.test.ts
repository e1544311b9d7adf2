// The README names commands that there are. test/readme.long.test.ts runs them.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/*.md', { cwd: ROOT })];

test('the README names the test command that CI runs', () => {
  const [, testCommand = ''] = /^```sh\n(.*npm test)\n```$/m.exec(read('README.md')) ?? [];
  assert.ok(read('.ci/run').endsWith(`\n${testCommand}\n`), testCommand);
});

test('every npm script that a page names is there', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of PAGES) {
    const named = [...read(page).matchAll(/\bnpm run (?:--silent )?([\w:-]*\w)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      named.filter((name) => !(name in scripts)),
      [],
      page,
    );
  }
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
