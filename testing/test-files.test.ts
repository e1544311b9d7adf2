import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { longTests, quickTests } from './test-files.ts';

test('every test file of the project is run, and none twice', () => {
  const { unit, browser, alone } = quickTests();
  const files = globSync('**/*.test.{ts,tsx}', {
    cwd: join(import.meta.dirname, '..'),
    exclude: (name) => ['node_modules', 'dist'].includes(name),
  });
  assert.deepEqual([...unit, ...browser, ...alone, ...longTests()].sort(), files.sort());
});
