// Tests a stop of the real process during a count. summary.test.ts has the other tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callerOf } from '../../../testing/request.ts';
import { startServer } from '../../../testing/server.ts';

test('a stop during a count takes less than 5 s and exits with status 0', async () => {
  const server = await startServer();
  const lines = Array.from({ length: 100_000 }, (_, n) => `{"id":${n},"name":"x"}`).join('\n');
  const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/x-ndjson' };
  await fetch(`${server.url}/plants/import`, { method: 'POST', headers, body: lines });
  const counting = callerOf(server, server.secret)('GET', '/plants/summary');
  await new Promise((resolve) => setTimeout(resolve, 20));
  const begunMs = performance.now();
  const status = await server.stop();
  assert.ok([200, 503].includes((await counting).status));
  assert.deepEqual([status, performance.now() - begunMs < 5000], [0, true]);
});
