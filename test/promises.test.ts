// Checks docs/background/security.md and reliability.md: every test that they name exists, and no fault is missing.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

const RELIABILITY = 'docs/background/reliability.md';

for (const page of ['docs/background/security.md', RELIABILITY]) {
  test(`every test that ${page} names exists`, () => {
    const named = testsIn(page);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });
}

test(`${RELIABILITY} names every fault`, () => {
  const named = testsIn(RELIABILITY);
  const faults = globSync('torture/faults/*.test.ts', { cwd: ROOT });
  assert.deepEqual(
    faults.filter((path) => !named.includes(path)),
    [],
  );
});

function testsIn(page: string): string[] {
  return readFileSync(join(ROOT, page), 'utf8').match(/\b(?:src|test|testing|torture)\/[\w./-]+\.test\.ts/g) ?? [];
}
