// Tests of connections whose clients read slowly at a stop, or ask for a tunnel.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { importFile } from '../../../testing/request.ts';
import { startTestService, type TestService, type TestServiceOptions } from '../../../testing/service.ts';

/** Number of plants whose export is larger than the buffers of a connection. A page holds ten of them. */
const PLANTS = 100;
const PLANTS_OF_PAGE = 10;
const NAME = 'x'.repeat(60_000);
const PAGES = 30;
const TUNNEL = 'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n';

async function startFilled(plants: number, options?: TestServiceOptions): Promise<TestService> {
  const filled = await startTestService(options);
  const rows = Array.from({ length: plants }, (_, n) => `${n},${NAME}\n`).join('');
  assert.equal((await importFile(filled, 'text/csv', `id,name\n${rows}`)).status, 200);
  return filled;
}

/** Connects, sends requests, and does not read. */
async function sendUnread({ port, secret }: TestService, paths: string[], last = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').pause();
  socket.on('error', () => {});
  const head = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
  socket.write(paths.map((path) => `GET ${path} ${head}`).join('') + last);
  await once(socket, 'readable');
  return socket;
}

/** Reads everything and returns the number of responses with this status. */
async function countResponses(socket: Socket, status: number): Promise<number> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1').split(`HTTP/1.1 ${status} `).length - 1;
}

test('a stop sends all pipelined responses to a client that reads slowly', async () => {
  const stopping = await startFilled(PLANTS_OF_PAGE);
  const client = await sendUnread(stopping, Array(PAGES).fill('/plants'));
  const stopped = stopping.stop();
  await sleep(200);
  assert.equal(await countResponses(client, 200), PAGES);
  await stopped;
});

test('a stop ends in time beside a client that reads nothing and has asked for a tunnel', async () => {
  const stopping = await startFilled(PLANTS, { timeouts: { disconnectMs: 300 } });
  await sendUnread(stopping, ['/plants/export'], TUNNEL);
  await stopping.stop();
});

test('an export before a request for a tunnel is sent completely', async () => {
  const server = await startFilled(PLANTS);
  const client = await sendUnread(server, ['/plants/export'], TUNNEL);
  let received = '';
  client.setEncoding('latin1').on('data', (text) => {
    received += text;
  });
  await once(client, 'close');
  assert.equal(received.split(NAME).length - 1, PLANTS);
  assert.match(received, /HTTP\/1\.1 404 .*"error":40400/s);
});
