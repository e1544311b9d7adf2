// SECURITY.md and docs/reliability.md promise with proof: each test that they name is there, and no fault is left out.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

for (const page of ['SECURITY.md', 'docs/reliability.md']) {
  test(`every test that ${page} names is there`, () => {
    const named = testsIn(page);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });
}

test('docs/reliability.md says of every fault what it proves', () => {
  const named = testsIn('docs/reliability.md');
  const faults = globSync('torture/faults/*.test.ts', { cwd: ROOT });
  assert.deepEqual(
    faults.filter((path) => !named.includes(path)),
    [],
  );
});

function testsIn(page: string): string[] {
  return readFileSync(join(ROOT, page), 'utf8').match(/\b(?:src|test|testing|torture)\/[\w./-]+\.test\.ts/g) ?? [];
}
