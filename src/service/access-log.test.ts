// Tests of the requests of several threads in the service log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { send } from '../../testing/request.ts';
import { startServer } from '../../testing/server.ts';
import { connectToEachThread } from '../../testing/threads.ts';
import { SharedCount } from '../lib/shared-count.ts';
import { createLineLog } from '../observability/log.ts';

test('the service log has one whole line for each request of every thread', async () => {
  const server = await startServer({ env: { THREADS: '3', ACCESS_LOG: '1' } });
  const agents = await connectToEachThread(server.port, 3);
  const path = `/plants/${'ä'.repeat(500)}`;
  const sent = await Promise.all(
    agents.flatMap((agent) =>
      Array.from({ length: 200 }, async () => {
        const { headers } = await send(server.port, { path: encodeURI(path), agent });
        return headers['x-request-id'];
      }),
    ),
  );
  for (const agent of agents) agent.destroy();
  assert.equal(await server.stop(), 0);
  const lines = server.output().trim().split('\n');
  const logged = lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'request');
  const ids = logged.map(({ requestId }) => requestId);
  assert.equal(sent.length, 600);
  for (const id of sent) assert.equal(ids.filter((other) => other === id).length, 1, `${id} is logged once`);
});

test('a thread sends the lines of one turn together, and drops lines while too many are unwritten', async () => {
  const sent: string[] = [];
  const unwritten = new SharedCount();
  const log = createLineLog('info', (lines) => sent.push(lines), unwritten);
  const request = { kind: 'request', requestId: 'r', method: 'GET', path: '/', status: 200, durationMs: 1 } as const;
  const logTwice = async () => {
    for (let n = 0; n < 2; n++) log({ ...request, tokenId: undefined, address: undefined });
    await setImmediate();
  };
  await logTwice();
  assert.deepEqual([sent.length, sent[0]?.split('\n').length], [1, 3]);
  assert.equal(unwritten.value, sent[0]?.length);
  unwritten.add(2 * 1024 * 1024);
  await logTwice();
  assert.equal(sent.length, 1);
  unwritten.add(-unwritten.value);
  await logTwice();
  assert.equal(sent.length, 2);
});
