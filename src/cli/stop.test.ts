// Tests of a stop: every request gets its response, no connection is reset, the database is closed, in time.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { LAUNCHER, makeFolder, needsTerminal, query, startServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

test('SIGTERM lets the server respond to all pipelined requests, and without a terminal SIGHUP does not stop it', async () => {
  const server = await startServer();
  server.process.kill('SIGHUP'); // as when the terminal of nohup closes
  const headers = `Host: x\r\nAuthorization: Bearer ${server.secret}\r\nContent-Type: application/json\r\n`;
  const received = Array.from({ length: 8 }, (_, client) => {
    const socket = connect(server.port, '127.0.0.1');
    const bodies = Array.from({ length: 20 }, (_, n) => `{"id":${100 + client * 20 + n},"name":"x"}`);
    const requests = bodies.map(
      (body) => `POST /plants HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.write(requests.join(''));
    return text(socket);
  });
  while (query(server.databasePath, 'SELECT * FROM plants').length === 0) await setTimeout(1);
  assert.equal(await server.stop(), 0);
  const answered = (await Promise.all(received)).join('').match(/HTTP\/1.1 200/g)?.length;
  assert.equal(answered, query(server.databasePath, 'SELECT * FROM plants').length);
});

test('a stopping server is not ready but still responds, and a second signal kills it', async () => {
  const server = await startServer();
  const headers = `Host: x\r\nAuthorization: Bearer ${server.secret}\r\nContent-Type: application/json\r\n`;
  const waiting = [
    'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
    `POST /plants HTTP/1.1\r\n${headers}Content-Length: 19\r\n\r\n{"id":1,"name":"x"}`,
  ].map((bytes) => {
    const socket = connect(server.port, '127.0.0.1');
    const response = text(socket);
    return { finish: () => socket.write(bytes), response };
  });
  const hanging = connect(server.port, '127.0.0.1');
  hanging.on('error', () => {});
  hanging.write('POST /plants HTTP/1.1\r\n');
  await setTimeout(200);
  server.process.kill('SIGTERM');
  await until(() => server.output().includes('"kind":"stopping"'));
  server.process.kill('SIGTERM'); // timeout(1) signals the process and its group
  await until(async () => !(await acceptsConnections(server.port))); // the server has stopped listening
  for (const { finish } of waiting) finish();
  const [ready = '', created = ''] = await Promise.all(waiting.map(({ response }) => response));
  assert.match(ready, /^HTTP\/1.1 503 .*connection: close.*"error":50300/is);
  assert.match(ready, /^retry-after: 1$/im);
  assert.match(created, /^HTTP\/1.1 200 .*connection: close.*\{"name":"x"\}/is);
  await setTimeout(600);
  const startMs = performance.now();
  assert.equal(await server.stop(), null, 'killed');
  assert.ok(performance.now() - startMs < 3000);
});

test('SIGINT stops the server', async () => {
  const server = await startServer();
  server.process.kill('SIGINT');
  assert.equal((await once(server.process, 'exit'))[0], 0);
});

test('closing the terminal stops the server cleanly', needsTerminal, async () => {
  const folder = makeFolder();
  const env = { PATH: process.env.PATH, TERM: 'xterm', PORT: '0', DATABASE_URL: `sqlite:${folder}/plants.db` };
  const terminal = spawn('script', ['-qec', `"${process.execPath}" "${LAUNCHER}" serve`, '/dev/null'], { env });
  let shown = '';
  for await (const chunk of terminal.stdout.iterator({ destroyOnReturn: false })) {
    shown += chunk;
    if (shown.includes('Ctrl-C')) break;
  }
  assert.equal(existsSync(`${folder}/plants.db-wal`), true);
  terminal.kill('SIGKILL');
  await until(() => !existsSync(`${folder}/plants.db-wal`)); // the database is closed
});

/** True if the server accepts a new connection. */
async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
