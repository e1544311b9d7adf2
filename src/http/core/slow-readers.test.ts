// Who reads slowly and steadily gets all of it, and who stops reading is cut off: over TLS as without. The answer is one
// piece that is longer than what the system takes on the way, which no route gives: only its server is ours.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import { makeFolder } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { resumeReading } from './connection.ts';
import { holdReading } from './paused-reading.ts';
import { createServer } from './server.ts';

const ANSWER = Buffer.alloc(40_000_000, 'x');
const BYTES_PER_S = 1.5e6;
/** Longer than somebody may stand still. */
const SLOW_MS = 9000;
const CUT_OFF_WITHIN_MS = 15_000;
/** By then Node has reported them. */
const HEADERS_LATE_MS = 13_000;

suite('slow readers', { concurrency: true }, () => {
  for (const [title, isTls] of [
    ['over TLS', true],
    ['without TLS', false],
  ] as const) {
    test(`${title}: who goes on is served, who stops is cut off`, isTls ? needsOpenssl : {}, async (t) => {
      const folder = makeFolder();
      if (isTls) makeCertificate(folder, 'IP:127.0.0.1');
      const [cert, key] = isTls ? ['crt', 'key'].map((end) => readFileSync(join(folder, `server.${end}`), 'utf8')) : [];
      const server = createServer(cert && key ? { cert, key } : undefined);
      server.on('request', (_request, response) => response.setHeader('connection', 'close').end(ANSWER));
      server.listen(0, '127.0.0.1');
      t.after(() => server.closeAllConnections());
      t.after(() => server.close());
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const ask = (): Socket => {
        const socket = isTls ? connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }) : connect({ port });
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        return socket;
      };
      const stopped = ask().pause();
      stopped.on('error', () => {});
      const [[connection]] = await Promise.all([once(server, 'request'), once(stopped, 'connect')]);
      const startMs = performance.now();
      const cutOff = once(connection.socket, 'close').then(() => performance.now() - startMs);
      const { bytes, slowBytes } = await readSlowly(ask());
      assert.ok(bytes > ANSWER.length, `cut off after ${bytes} bytes, of which ${slowBytes} were read slowly`);
      assert.ok((await cutOff) < CUT_OFF_WITHIN_MS);
      stopped.destroy();
    });
  }

  test('headers are not late as long as the server does not read, and late again when it does', async (t) => {
    const server = createServer(undefined);
    const held: IncomingMessage[] = [];
    server.on('request', (request: IncomingMessage, response) => {
      if (held.push(request) === 1) holdReading(request.socket);
      response.end('response');
    });
    server.listen(0, '127.0.0.1');
    t.after(() => server.closeAllConnections());
    t.after(() => server.close());
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const received = text(client);
    client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo');
    await until(() => held[0]);
    await sleep(HEADERS_LATE_MS);
    const releasedMs = performance.now();
    resumeReading((held[0] as IncomingMessage).socket);
    assert.match(await received, /^HTTP\/1.1 200 .*HTTP\/1.1 408 /s);
    assert.ok(performance.now() - releasedMs > 9000, 'the client had less than 10 s after the release');
  });
});

/** At a steady pace, and all the rest at once. */
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
