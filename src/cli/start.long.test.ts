// Tests of starts that fail, in their own process: the process ends, with the right status.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { piped } from '../../testing/command-line.ts';
import { makeFolder } from '../../testing/server.ts';

test('an invalid setting ends the process with status 2, before anything is opened', async () => {
  const folder = makeFolder();
  assert.deepEqual(await piped(['serve'], { PORT: 'x', DATABASE_URL: `sqlite:${folder}/plants.db` }), {
    status: 2,
    stdout: '',
    stderr: 'plant-store: PORT must be an integer from 0 (any free port) to 65535, not "x"\n',
  });
  assert.deepEqual(readdirSync(folder), []);
});

test('an unknown command or option ends the process with status 2, help and version with 0', async () => {
  for (const args of [['grow'], ['serve', '--fast'], ['token', 'create']]) assert.equal((await piped(args)).status, 2);
  for (const args of [['token', 'create', '--help'], ['--version']]) assert.equal((await piped(args)).status, 0);
});

test('a port in use ends the process with status 1', { timeout: 30_000 }, async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const env = { PORT: String(port), DATABASE_URL: `sqlite:${makeFolder()}/plants.db`, LOG_LEVEL: 'silent' };
  assert.deepEqual(await piped(['serve'], env), {
    status: 1,
    stdout: '',
    stderr: `plant-store: Port ${port} on 127.0.0.1 is in use. Set PORT or --port to another port.\n`,
  });
});
