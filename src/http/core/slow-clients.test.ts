// A client that reads slowly and steadily gets its whole response, and one that stops reading is disconnected: over TLS as
// without. The response is one piece that is longer than what the system accepts, which no route gives: only the server is
// ours.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import { makeFolder } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createServer, type HttpServer } from './server.ts';
import { TIMEOUTS } from './timeouts.ts';
import type { Certificate } from './tls.ts';

const ANSWER = Buffer.alloc(40_000_000, 'x');
const timeouts = { ...TIMEOUTS, headersMs: 300, bodyMs: 300, checkMs: 50, unreadMs: 500, lingerMs: 100 };
const BYTES_PER_S = 15e6;
/** Longer than a client may stall. */
const SLOW_MS = 900;
const DISCONNECTED_WITHIN_MS = 15_000;

async function start(
  t: TestContext,
  certificate?: Certificate,
): Promise<{ server: HttpServer['server']; port: number }> {
  const { server } = createServer(certificate, { isProxy: () => false, timeouts, nextRequestId: () => 'id' });
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('the time-outs of production are those that clients are told', () => {
  const { headersMs, bodyMs, keepAliveMs, handshakeMs, unreadMs, unreadExportMs, eventKeepAliveMs } = TIMEOUTS;
  assert.deepEqual([headersMs, bodyMs, keepAliveMs, handshakeMs], [10_000, 10_000, 65_000, 10_000]);
  assert.deepEqual([unreadMs, unreadExportMs, eventKeepAliveMs], [5_000, 60_000, 15_000]);
});

suite('slow clients', { concurrency: true }, () => {
  for (const [title, isTls] of [
    ['over TLS', true],
    ['without TLS', false],
  ] as const) {
    test(`${title}: who reads on is served, who stops is disconnected`, isTls ? needsOpenssl : {}, async (t) => {
      const { server, port } = await start(t, isTls ? newCertificate() : undefined);
      server.on('request', (_request, response) => response.setHeader('connection', 'close').end(ANSWER));
      const ask = (): Socket => {
        const socket = isTls ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }) : connect({ port });
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        return socket;
      };
      const stopped = ask().pause();
      stopped.on('error', () => {});
      const [[connection]] = await Promise.all([once(server, 'request'), once(stopped, 'connect')]);
      const startMs = performance.now();
      const disconnected = once(connection.socket, 'close').then(() => performance.now() - startMs);
      const { bytes, slowBytes } = await readSlowly(ask());
      assert.ok(bytes > ANSWER.length, `disconnected after ${bytes} bytes, of which ${slowBytes} were read slowly`);
      assert.ok((await disconnected) < DISCONNECTED_WITHIN_MS);
      stopped.destroy();
    });
  }

  test('headers are not late as long as the server does not read, and late again when it does', async (t) => {
    const { server, port } = await start(t);
    let held: Connection | undefined;
    server.on('request', (request, response) => {
      held = connectionOf(request.socket);
      held.hold();
      response.end('response');
    });
    const client = connect(port, '127.0.0.1');
    const received = text(client);
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo');
    await until(() => held?.headersSinceMs === Number.POSITIVE_INFINITY); // Node has reported them
    const releasedMs = performance.now();
    held?.release();
    assert.match(await received, /^HTTP\/1.1 200 .*HTTP\/1.1 408 /s);
    assert.ok(performance.now() - releasedMs > timeouts.headersMs, 'the client had less time after the release');
  });

  test('two holds take two releases', async (t) => {
    const { server, port } = await start(t);
    const requests: BufferedRequest[] = [];
    server.on('request', (request) => requests.push(request));
    const client = connect(port, '127.0.0.1').on('error', () => {});
    client.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n');
    client.write(Buffer.alloc(40_000_000));
    const request = await until(() => requests[0]);
    const connection = connectionOf(request.socket);
    connection.hold();
    connection.hold();
    request.resume();
    connection.release();
    assert.equal(connection.isHeld, true);
    const before = request.socket.bytesRead;
    await sleep(100);
    assert.ok(request.socket.bytesRead - before < 200_000);
    connection.release();
    await until(() => request.socket.bytesRead > 2_000_000);
    client.destroy();
  });
});

function newCertificate(): Certificate {
  const folder = makeFolder();
  makeCertificate(folder, 'IP:127.0.0.1');
  const [cert = '', key = ''] = ['crt', 'key'].map((end) => readFileSync(join(folder, `server.${end}`), 'utf8'));
  return { cert, key };
}

/** Reads at a steady pace, then all the rest at once. */
async function readSlowly(socket: Socket): Promise<{ bytes: number; slowBytes: number }> {
  const startMs = performance.now();
  let [bytes, slowBytes] = [0, 0];
  for await (const chunk of socket) {
    bytes += chunk.length;
    if (performance.now() - startMs > SLOW_MS) continue;
    slowBytes += chunk.length;
    await sleep(startMs + (slowBytes / BYTES_PER_S) * 1000 - performance.now());
  }
  return { bytes, slowBytes };
}
