import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

function torture(...args: string[]) {
  const { TEST_POSTGRES_URL: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
  return spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), ...args], { env, encoding: 'utf8' });
}

test('torture runs one fault with a seed and prints its table row', () => {
  const { status, stdout } = torture('content-types', '--short', '--seed', '42');
  assert.equal(status, 0, stdout);
  assert.match(stdout, /^content-types +passed +\d+ × 415$/m);
  assert.match(
    stdout,
    /^\| compressed body, unsupported content types \| \d+ headers \| [^|]*415[^|]* \| passed \| .* \| 42 \| \d+ s \|$/m,
  );
  assert.match(stdout, /^No fault failed$/m);
});

test('torture lists the faults and rejects an unknown one', () => {
  assert.match(torture('--list').stdout, /^power-cut\nprocess-killed$/m);
  const { status, stderr } = torture('power-cuts');
  assert.equal(status, 2);
  assert.match(stderr, /^Unknown fault "power-cuts"\. Use --list to list all faults\.\n/);
});
