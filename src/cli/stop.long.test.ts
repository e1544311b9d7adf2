// Tests of a stop that has to end requests in progress, an unfinished request and an import, and of Ctrl-C under npm.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { typeInto } from '../../testing/command-line.ts';
import { sendRaw } from '../../testing/request.ts';
import { makeFolder, needsTerminal, query, startServer } from '../../testing/server.ts';
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

for (const [command, ready] of [
  ['npm run --silent plant-store -- watch', 'Press Ctrl-C'],
  ['npm start -- --port 0', 'Press Ctrl-C'],
] as const) {
  test(`Ctrl-C ends "${command}" with status 0`, needsTerminal, async () => {
    const server = await startServer();
    const databaseUrl = command.includes('start') ? `sqlite:${makeFolder()}/plants.db` : server.databaseUrl;
    const env = {
      DATABASE_URL: databaseUrl,
      PLANT_STORE_URL: server.url,
      PLANT_STORE_TOKEN: server.secret,
    };
    const shown = await typeInto(`trap : INT; ${command}; echo "status $?"`, env, [[ready, '\u0003']]);
    assert.match(shown, /status 0\r?\n$/);
    await server.stop();
  });
}
