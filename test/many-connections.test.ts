// One connection more than the limit: it is told so, what it asks for is not done, and others are not disturbed.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post, sendRaw } from './request.ts';
import { query, startServer } from './server.ts';

const LIMIT = 10_000;

const report = process.report.getReport() as { userLimits?: { open_files?: { hard: number | string } } };
const hasRoom = Number(report.userLimits?.open_files?.hard) > LIMIT + 500;

test('connection 10,001 gets 503, without an effect, and room again when others go', {
  skip: !hasRoom && `SKIPPED: a process may open fewer than ${LIMIT} files here`,
}, async () => {
  const server = await startServer();
  const create =
    'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Connection: close\r\nContent-Length: 19\r\n\r\n{"id":1,"name":"x"}';
  const sockets: Socket[] = [];
  while (sockets.length < LIMIT) {
    const more = Array.from({ length: 200 }, () => connect(server.port, '127.0.0.1'));
    await Promise.all(more.map((socket) => once(socket, 'connect')));
    sockets.push(...more);
  }
  const refusal = await sendRaw(server.port, fillIn(server.secret, create));
  assert.match(refusal, /^HTTP\/1.1 503 .*retry-after: 1.*"error":50300,"message":"Too many connections/s);
  assert.deepEqual(query(server.databasePath, 'SELECT * FROM plants'), []);

  for (const socket of sockets) socket.destroy();
  await setTimeout(1000);
  assert.equal((await post(server, '{"id":1,"name":"x"}')).headers['idempotent-replayed'], undefined);
  assert.equal(await server.stop(), 0);
});
