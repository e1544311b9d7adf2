// What holding a connection relies on in Node: if one of these fails after an update of Node, look at
// src/http/core/paused-reading.ts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { until } from '../../../testing/until.ts';
import { holdReading, releaseReading } from './paused-reading.ts';
import { createServer } from './server.ts';

/** Two requests: the whole of the first one, with a body that fills its stream, and the headers of the second one. */
const BODY = 'x'.repeat(64 * 1024);
const FIRST = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const SECOND = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n';
/** More than two reads bring. */
const READ_BYTES = 200_000;

test('a connection that is held in a request is read no further, until it is released', async (t) => {
  const [first] = await ask(t, SECOND);
  holdReading(first.socket);
  first.resume();
  await assertNothingIsRead(first.socket);
  releaseReading(first.socket);
  await until(() => first.socket.bytesRead > READ_BYTES * 10);
});

test('nor while Node resumes it after the end of a request, and a body is read as a stream', async (t) => {
  const [first, second] = await ask(t, FIRST + SECOND);
  assert.ok(second);
  holdReading(first.socket);
  first.resume();
  second.resume();
  await assertNothingIsRead(first.socket);
  releaseReading(first.socket);
  await until(() => first.socket.bytesRead > READ_BYTES * 10);
});

test('two holds take two releases', async (t) => {
  const [first] = await ask(t, SECOND);
  first.resume();
  holdReading(first.socket);
  holdReading(first.socket);
  assert.equal(releaseReading(first.socket), false);
  await assertNothingIsRead(first.socket);
  assert.equal(releaseReading(first.socket), true);
  await until(() => first.socket.bytesRead > READ_BYTES * 10);
});

/** Gives the requests that come with the first bytes; the client then sends as much as is read. */
async function ask(t: TestContext, bytes: string): Promise<[IncomingMessage, ...IncomingMessage[]]> {
  const server = createServer(undefined);
  const requests: IncomingMessage[] = [];
  server.on('request', (request: IncomingMessage, _response: ServerResponse) => requests.push(request));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  t.after(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  client.write(bytes);
  client.write(Buffer.alloc(40_000_000, 'x'));
  const [first, ...others] = await until(() => requests.length >= bytes.split('POST').length - 1 && requests);
  assert.ok(first);
  return [first, ...others];
}

async function assertNothingIsRead(socket: Socket): Promise<void> {
  const before = socket.bytesRead;
  await setTimeout(300);
  const more = socket.bytesRead - before;
  assert.ok(more <= READ_BYTES, `${more} bytes were read meanwhile`);
}
