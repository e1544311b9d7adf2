// Tests that a slow but steady reader gets its whole response and that a client that stops reading is disconnected,
// with and without TLS. The response is one write that exceeds the buffers of the operating system. No route sends
// such a response, so the test uses only the HTTP server.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import { makeFolder } from '../../../testing/server.ts';
import { createSharedLimits } from '../access/shared-limits.ts';
import { createServer } from './server.ts';
import { TIMEOUTS } from './timeouts.ts';
import { type Certificate, readCertificate } from './tls.ts';

const ANSWER = Buffer.alloc(40_000_000, 'x');
const timeouts = { ...TIMEOUTS, checkMs: 50, unreadMs: 3000, lingerMs: 100 };
const BYTES_PER_S = 4e6;
/** Longer than the time for which a client may stall. */
const SLOW_MS = 5000;
const DISCONNECTED_WITHIN_MS = 30_000;

suite('slow clients', () => {
  for (const [title, isTls] of [
    ['over TLS', true],
    ['without TLS', false],
  ] as const) {
    test(
      `${title}: a steady reader is served, and a client that stops reading is disconnected`,
      isTls ? needsOpenssl : {},
      async (t) => {
        const certificate = isTls ? await newCertificate() : undefined;
        const { server } = createServer(certificate, {
          isProxy: () => false,
          counts: createSharedLimits().counts,
          timeouts,
          nextRequestId: () => 'id',
        });
        t.after(() => {
          server.closeAllConnections();
          server.close();
        });
        server.listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
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
      },
    );
  }
});

function newCertificate(): Promise<Certificate> {
  const folder = makeFolder();
  makeCertificate(folder, 'IP:127.0.0.1');
  return readCertificate({ certPath: join(folder, 'server.crt'), keyPath: join(folder, 'server.key') });
}

/** Reads at a steady rate, then reads the rest at full speed. */
async function readSlowly(socket: Socket): Promise<{ bytes: number; slowBytes: number }> {
  const startMs = performance.now();
  let [bytes, slowBytes] = [0, 0];
  for await (const chunk of socket) {
    bytes += chunk.length;
    if (performance.now() - startMs > SLOW_MS) continue;
    slowBytes += chunk.length;
    await sleep(Math.max(0, startMs + (slowBytes / BYTES_PER_S) * 1000 - performance.now()));
  }
  return { bytes, slowBytes };
}
