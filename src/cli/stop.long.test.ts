// A stop that takes as long as it may.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sendRaw } from '../../testing/request.ts';
import { startServer } from '../../testing/server.ts';

test('a client that never ends its request does not keep it from stopping', { timeout: 30_000 }, async () => {
  const server = await startServer();
  const answer = sendRaw(server.port, 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n', 30_000).catch(
    String,
  );
  await setTimeout(100);
  const startMs = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - startMs < 10_000);
  await answer;
});
