// Tests of a stop that has to end requests in progress: an unfinished request and an import.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sendRaw } from '../../testing/request.ts';
import { query, startServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

test('a client that never completes its request does not prevent a stop', { timeout: 30_000 }, async () => {
  const server = await startServer();
  const response = sendRaw(server.port, 'POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n', 30_000).catch(
    String,
  );
  await setTimeout(100);
  const startMs = performance.now();
  assert.equal(await server.stop(), 0);
  assert.ok(performance.now() - startMs < 10_000);
  await response;
});

test('an import in progress ends with 503, and the process with status 0', { timeout: 30_000 }, async () => {
  const server = await startServer();
  const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/x-ndjson' };
  const options = { host: '127.0.0.1', port: server.port, method: 'POST', path: '/plants/import', headers };
  const sent = request({ ...options, agent: false });
  sent.write(Array.from({ length: 20_000 }, (_, n) => `{"id":${n},"name":"Plant ${n}"}\n`).join(''));
  await until(() => query(server.databasePath, 'SELECT id FROM plants LIMIT 1').length === 1);
  const stopped = server.stop();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  assert.deepEqual([response.statusCode, response.headers['retry-after']], [503, '1']);
  assert.match(await text(response), /whole file again/);
  assert.equal(await stopped, 0);
});
