// Bodies that are too long, with and without Content-Length, from clients that keep sending after the response. The
// server must reject them while they arrive, and never buffer them.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post } from '../../testing/request.ts';
import { query, residentKib, type TestServer } from '../../testing/server.ts';
import { waitForThreads } from '../../testing/threads.ts';
import { fault } from '../fault.ts';
import { assertError, readAnswers } from '../http/answers.ts';

const MIB = 1024 * 1024;
const MAX_READ_MIB = 16; // capacity of two sockets' buffers
const MAX_GROWTH_KIB = 32 * 1024;
const MAX_IMPORT_GROWTH_KIB = 96 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 'x');

fault({
  name: 'over-size body',
  mark: 'The server returns 413 early, its memory does not grow, and it stores nothing.',
  rounds: { short: 64, full: 1024, of: 'MiB sent, three times' },
  async trial({ rounds: mib, startServer }) {
    const server = await startServer();
    await waitForThreads(server);
    await post(server, '{"id":1,"name":"the first"}');
    using memory = watchMemory(server);
    const seen: string[] = [];
    for (const framing of ['Transfer-Encoding: chunked', `Content-Length: ${mib * MIB}`]) {
      const { received, readMib } = await offer(server, `/plants HTTP/1.1\r\nHOST AUTH TYPE ${framing}`, mib);
      const [answer, ...more] = readAnswers(received);
      assert.deepEqual([answer?.status, more.length], [413, 0], `${framing}: ${received.toString().slice(0, 200)}`);
      if (answer) assertError(answer, 41_300);
      assert.equal(answer?.headers.get('connection'), 'close');
      assert.ok(readMib < MAX_READ_MIB, `${framing}: ${readMib.toFixed(1)} MiB were read`);
      seen.push(
        `413 after ${readMib.toFixed(1)} of ${mib} MiB ${framing.startsWith('T') ? 'chunked' : 'with Content-Length'}`,
      );
    }
    const exact = await post(server, 'x'.repeat(64 * 1024 + 1));
    assert.equal(exact.status, 413, exact.body);
    const refusedKib = memory.peakKib();
    assert.ok(refusedKib < MAX_GROWTH_KIB, `memory grew by ${refusedKib} KiB`);

    // An import file may have any length, but its lines may not.
    const type = 'Content-Type: application/x-ndjson\r\nConnection: close\r\nTransfer-Encoding: chunked';
    const { received } = await offer(server, `/plants/import HTTP/1.1\r\nHOST AUTH ${type}`, mib);
    const [{ status, body } = assert.fail('an import got no response')] = readAnswers(received);
    assert.equal(status, 200, body);
    assert.deepEqual([JSON.parse(body).failed, JSON.parse(body).errors[0].error], [1, 41_300], body);
    const importKib = memory.peakKib();
    assert.ok(importKib < MAX_IMPORT_GROWTH_KIB, `memory grew by ${importKib} KiB in an import`);
    assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), [{ id: 1n }]);
    assert.equal(await server.stop(), 0);
    seen.push(
      `a line of ${mib} MiB rejected`,
      `memory growth at most ${Math.round(Math.max(refusedKib, importKib) / 1024)} MiB`,
    );
    return seen.join(', ');
  },
  controls: {
    'does not count the bytes of a body': {
      change: ['src/http/core/buffered-request.ts', 'kept.bytes > kept.maxBytes', 'false'],
      caught: /^Transfer-Encoding: chunked: HTTP\/1.1 400|memory grew/,
    },
    'buffers a line of any length': {
      change: ['src/files/csv-record-end.ts', 'MAX_RECORD_BYTES = 1024 * 1024', 'MAX_RECORD_BYTES = 1024 ** 3'],
      caught: /memory grew by \d+ KiB in an import|"failed":1|got no response/,
      rounds: 8,
    },
  },
});

/** Sends up to `mib` MiB, until the server stops accepting data. Returns the response. */
async function offer(server: TestServer, head: string, mib: number): Promise<{ received: Buffer; readMib: number }> {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => {}); // the server disconnects the client while it sends
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const isChunked = head.includes('chunked');
  socket.write(fillIn(server.secret, `POST ${head}\r\n\r\n`));
  for (let sent = 0; sent < mib * MIB && socket.writable; sent += PIECE.length) {
    if (isChunked) socket.write('10000\r\n');
    socket.write(PIECE);
    if (isChunked) socket.write('\r\n');
    if (socket.writableNeedDrain) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
  }
  const readMib = (socket.bytesWritten - socket.writableLength) / MIB;
  if (isChunked && socket.writable) socket.end('0\r\n\r\n');
  else socket.end();
  await closed;
  return { received: Buffer.concat(received), readMib };
}

/** Watches the memory of the server until it is disposed. */
function watchMemory(server: TestServer): Disposable & { peakKib(): number } {
  const beforeKib = residentKib(server);
  let peakKib = beforeKib;
  let watching = true;
  (async () => {
    while (watching && server.process.exitCode === null) {
      peakKib = Math.max(peakKib, residentKib(server));
      await setTimeout(20);
    }
  })();
  return {
    peakKib: () => peakKib - beforeKib,
    [Symbol.dispose]() {
      watching = false;
    },
  };
}
