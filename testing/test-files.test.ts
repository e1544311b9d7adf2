import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { groupNames, longTests, quickTests } from './test-files.ts';

const ROOT = join(import.meta.dirname, '..');

test('every test file of the project is run, and none twice', () => {
  const files = globSync('**/*.test.{ts,tsx}', {
    cwd: ROOT,
    exclude: (name) => ['node_modules', 'dist'].includes(name),
  });
  assert.deepEqual([...Object.values(quickTests()).flat(), ...longTests()].sort(), files.sort());
  const groups = globSync('*.ts', { cwd: join(ROOT, 'testing/groups') });
  assert.deepEqual(
    groups.sort(),
    groupNames()
      .map((name) => `${name}.ts`)
      .sort(),
  );
});
