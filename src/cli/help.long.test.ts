// Tests of the help of the long-running scripts in this repository.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

test('the long-running scripts print help with examples and do not start', async () => {
  for (const [name, script] of [
    ['bench', 'bench/run.ts'],
    ['cluster', 'cluster/run.ts'],
    ['torture', 'torture/run.ts'],
    ['soak', 'torture/soak/run.ts'],
  ] as const) {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, script), '--help'], { timeout: 60_000 });
    assert.match(stdout, new RegExp(`^Usage: npm run ${name}\\b.*\\nExamples?:\\n.* npm run ${name}\\b`, 's'));
  }
});
