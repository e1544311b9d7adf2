// Tests of the undocumented behaviour of Node that the service relies on. If one fails after an update of Node, check
// node-internals.ts.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, connect, Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import { until } from '../../../testing/until.ts';
import { createServer as createPlainServer } from '../../lib/lean-http.ts';
import {
  acceptedBytes,
  allowHalfOpen,
  controlReading,
  PARSING_STOPPED_CODE,
  ParsedRequest,
  replaceEnd,
  stopAccepting,
  tryToBind,
} from './node-internals.ts';

type Respond = (request: ParsedRequest, response: ServerResponse) => void;

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

/** Starts Node's own server, without code of the service, and a client. */
async function startPlain(t: TestContext, respond: Respond, RequestClass = ParsedRequest) {
  const server = createPlainServer({ IncomingMessage: RequestClass }, respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, port, client: () => connect(port, '127.0.0.1').on('error', () => {}) };
}

test('a client that has ended its half of the connection still gets its response', async (t) => {
  const { server, client } = await startPlain(t, async (_request, response) => {
    await once(response.req.socket, 'end');
    response.end('response');
  });
  allowHalfOpen(server);
  assert.match(await text(client().end(GET)), /^HTTP\/1.1 200 .*response$/s);
});

test('a server that has stopped listening still serves idle connections', async (t) => {
  const { server, port, client } = await startPlain(t, (_request, response) => response.end('response'));
  const idle = client();
  idle.write(GET);
  await once(idle, 'data');
  stopAccepting(server);
  const [refused] = await once(connect(port, '127.0.0.1'), 'error');
  assert.equal(refused.code, 'ECONNREFUSED');
  idle.write(GET);
  assert.match(String(await once(idle, 'data')), /^HTTP\/1.1 200 /);
  idle.destroy();
  await new Promise((resolve) => server.close(resolve)); // close() still works
});

test('a port is bound without listening on it, unless another server listens there or the address is not of this machine', async (t) => {
  const { port } = await startPlain(t, () => {});
  assert.equal(getSystemErrorName(tryToBind('127.0.0.1', port, 4)), 'EADDRINUSE');
  assert.equal(getSystemErrorName(tryToBind('203.0.113.1', 0, 4)), 'EADDRNOTAVAIL');
  const listen = t.mock.method(Server.prototype, 'listen');
  assert.equal(tryToBind('127.0.0.1', 0, 4), 0);
  assert.equal(listen.mock.callCount(), 0);
});

test('Node calls the replaced end of a connection after its last response', async (t) => {
  let ended = 0;
  const { client } = await startPlain(t, ({ socket }, response) => {
    replaceEnd(socket, () => {
      ended++;
      socket.end('and more');
    });
    response.setHeader('connection', 'close').end('response');
  });
  const socket = client();
  socket.write(GET);
  assert.match(await text(socket), /response\r\n0\r\n\r\nand more$|responseand more$/s);
  assert.equal(ended, 1);
});

test('the accepted bytes of one long write increase as the client reads', async (t) => {
  const bytes = 40_000_000;
  const sockets: Socket[] = [];
  const { client } = await startPlain(t, (request, response) => {
    sockets.push(request.socket);
    response.end(Buffer.alloc(bytes));
  });
  const reader = client().pause();
  reader.write(GET);
  const socket = await until(() => sockets[0]);
  const atFirst = await until(() => acceptedBytes(socket));
  assert.ok(atFirst < bytes, `${atFirst} bytes`);
  reader.resume();
  await until(() => acceptedBytes(socket) > bytes);
});

test('the parser passes bodies to push, with null at the end', async (t) => {
  const received: (string | null)[] = [];
  class Received extends ParsedRequest {
    protected override receive(chunk: Buffer | null): boolean {
      received.push(chunk && String(chunk));
      return super.receive(chunk);
    }
  }
  const { client } = await startPlain(
    t,
    (request, response) => request.on('end', () => response.end()).resume(),
    Received,
  );
  const socket = client();
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody');
  await once(socket, 'data');
  assert.deepEqual(received, ['body', null]);
});

test('once parsing is stopped, no further request is parsed and Node reports a known error code', async (t) => {
  const control = { isHeld: false, isParsingStopped: false };
  let requests = 0;
  const { server, client } = await startPlain(t, () => {
    requests++;
    control.isParsingStopped = true;
  });
  server.on('connection', (socket) => controlReading(socket, control, assert.fail));
  const fault = once(server, 'clientError');
  client().write(GET.repeat(3));
  const [error, socket] = await fault;
  assert.deepEqual([error.code, requests], [PARSING_STOPPED_CODE, 1]);
  socket.destroy();
});

test('a CONNECT is reported, and the response before it continues as the client reads', async (t) => {
  const bytes = 20_000_000;
  const tunnel = Promise.withResolvers<void>();
  const { server, client } = await startPlain(t, (_request, response) => {
    Readable.from(Array.from({ length: 20 }, () => Buffer.alloc(bytes / 20))).pipe(response);
  });
  const control = { isHeld: false, isParsingStopped: false };
  server.on('connection', (socket) => controlReading(socket, control, tunnel.resolve));
  const reader = client().pause();
  reader.write(`${GET}CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n${GET}`);
  await tunnel.promise;
  let received = 0;
  reader.on('data', (chunk) => {
    received += chunk.length;
  });
  reader.resume();
  await until(() => received > bytes);
});

/** Two requests: the complete first one, whose body fills its stream, and the headers of the second one. */
const BODY = 'x'.repeat(64 * 1024);
const FIRST = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const SECOND = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n';
/** More bytes than two reads return. */
const READ_BYTES = 200_000;

for (const [name, bytes, count] of [
  ['a connection held during a request is not read until it is released', SECOND, 1],
  [
    'a held connection is not read when Node resumes it after a request, or when a body is read as a stream',
    FIRST + SECOND,
    2,
  ],
] as const) {
  test(name, async (t) => {
    const control = { isHeld: false, isParsingStopped: false };
    const requests: ParsedRequest[] = [];
    const { server, client } = await startPlain(t, (request) => requests.push(request));
    server.on('connection', (socket) => controlReading(socket, control, assert.fail));
    const sender = client();
    sender.write(bytes);
    sender.write(Buffer.alloc(40_000_000, 'x'));
    await until(() => requests.length === count);
    const { socket } = requests[0] as ParsedRequest;
    control.isHeld = true;
    socket.pause();
    for (const request of requests) request.resume();
    const before = socket.bytesRead;
    await sleep(200);
    assert.ok(socket.bytesRead - before <= READ_BYTES, `${socket.bytesRead - before} bytes were read while held`);
    control.isHeld = false;
    socket.resume();
    await until(() => socket.bytesRead > READ_BYTES * 10);
    sender.destroy();
  });
}
