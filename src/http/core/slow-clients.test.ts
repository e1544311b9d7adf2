// Tests of the timeouts for the parts of a request. slow-clients.long.test.ts tests slow readers.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../testing/until.ts';
import { createSharedLimits } from '../access/shared-limits.ts';
import type { BufferedRequest } from './buffered-request.ts';
import { type Connection, connectionOf } from './connection.ts';
import { createServer, type HttpServer } from './server.ts';
import { TIMEOUTS } from './timeouts.ts';

const timeouts = { ...TIMEOUTS, headersMs: 300, bodyMs: 300, checkMs: 50, unreadMs: 500, lingerMs: 100 };

async function start(t: TestContext): Promise<{ server: HttpServer['server']; port: number }> {
  const { server } = createServer(undefined, {
    isProxy: () => false,
    counts: createSharedLimits().counts,
    timeouts,
    nextRequestId: () => 'id',
  });
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test('the default timeouts are the documented ones', () => {
  const { headersMs, bodyMs, keepAliveMs, handshakeMs, unreadMs, unreadExportMs, eventKeepAliveMs } = TIMEOUTS;
  assert.deepEqual([headersMs, bodyMs, keepAliveMs, handshakeMs], [10_000, 10_000, 65_000, 10_000]);
  assert.deepEqual([unreadMs, unreadExportMs, eventKeepAliveMs], [5_000, 60_000, 15_000]);
});

suite('slow clients', { concurrency: true }, () => {
  test('the timeout for headers does not run while reading is paused, and runs again afterwards', async (t) => {
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
    await until(() => held?.headersSinceMs === Number.POSITIVE_INFINITY); // Node has reported the late headers
    const releasedMs = performance.now();
    held?.release();
    assert.match(await received, /^HTTP\/1.1 200 .*HTTP\/1.1 408 /s);
    assert.ok(performance.now() - releasedMs > timeouts.headersMs, 'the client had less time after the release');
  });

  test('two holds need two releases', async (t) => {
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
