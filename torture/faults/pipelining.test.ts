// Pipelined requests: hundreds of lists in one write, and many requests after an event stream or after a rejected
// request. The server must limit the requests that it handles and buffers per connection.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fillIn, importFile, post, send } from '../../testing/request.ts';
import { addToken, residentKib, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { readTimesDuring } from '../read-times.ts';

const MAX_GROWTH_KIB = 64 * 1024;
const MAX_WAIT_MS = 250;
const MAX_IN_PROGRESS = 32;
const TRIES = 4;
const CLOSED = 20;
const PLANTS = 1000;
const NAME = 'x'.repeat(60);
const LISTS = { short: 150, full: 400 };
const BODY = 'x'.repeat(65_000);
const ORDER = 'src/http/core/request-order.ts';
const BODIES = 'src/http/core/buffered-request.ts';
const MAY_START = 'return started < MAX_IN_PROGRESS && this.#isConcurrent(newest) && this.#isConcurrent(raw);';

/** Requests sent after an event stream on each connection. */
const BEHIND: Record<string, string> = {
  'large unauthenticated bodies':
    `POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: ${BODY.length}\r\n\r\n${BODY}`.repeat(170),
  'large bodies': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: ${BODY.length}\r\n\r\n${BODY}`.repeat(170),
  lists: 'GET /plants?limit=1000 HTTP/1.1\r\nHOST AUTH \r\n'.repeat(50), // the server closes the connection if it gets more
  'tiny requests': 'GET / HTTP/1.1\r\n\r\n'.repeat(20_000),
};

fault({
  name: 'pipelining',
  mark: 'At most 32 requests per connection are in progress. Memory grows by less than 64 MiB. Other clients wait at most 250 ms.',
  rounds: { short: 16, full: 50, of: 'connections with an event stream, and 60 × as many with rejected requests' },
  async trial({ rounds, isFull, startServer }) {
    const server = await startServer();
    await fill(server);
    await createTogether(server);
    const waitedMs = await listInOneWrite(server, isFull ? LISTS.full : LISTS.short);
    const grown: string[] = [];
    for (const name of Object.keys(BEHIND)) {
      grown.push(`${name} ${await behindStreams(server, rounds, name)}`);
    }
    grown.push(`rejected ${await sendRefused(server, rounds * 60)}`);
    assert.equal((await post(server, '{"id":-1,"name":"x"}')).status, 200);
    assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
    assert.equal(await server.stop(), 0);
    return `others waited at most ${waitedMs.toFixed(0)} ms; memory growth in MiB: ${grown.join(', ')}`;
  },
  controls: {
    'handles all requests of a connection concurrently': {
      change: [ORDER, MAY_START, 'return true;'],
      caught: /more than 32 creates of one connection/,
    },
    'handles reads concurrently, as it does writes': {
      change: [ORDER, MAY_START, 'return started < MAX_IN_PROGRESS;'],
      caught: /others waited|lists: memory grew/,
      rounds: 50,
    },
    'does not yield between queued requests and lists': {
      changes: [
        [ORDER, 'await nextEventLoopTurn();', 'await undefined;'],
        ['src/http/pipeline.ts', 'await nextEventLoopTurn(request.token?.id);', ''],
      ],
      caught: /others waited/,
    },
    'reads and buffers requests after an event stream': {
      changes: [
        [ORDER, 'if (!connection.isHeldByOrder && !mayRead(connection))', 'if (false)'],
        [ORDER, 'else if (!connection.isHeldByOrder) hold(connection);', ''],
        [ORDER, 'MAX_QUEUED_BEHIND_LONG = 32', 'MAX_QUEUED_BEHIND_LONG = 1e9'],
        [BODIES, 'MAX_EARLY_BYTES = 16 * 1024 * 1024', 'MAX_EARLY_BYTES = 1e12'],
      ],
      caught: /large unauthenticated bodies: memory grew/,
    },
    'does not limit its request queue': {
      changes: [
        [ORDER, 'MAX_QUEUED_OF_ONE = 1024', 'MAX_QUEUED_OF_ONE = 1e9'],
        [ORDER, 'MAX_QUEUED = 8192', 'MAX_QUEUED = 1e9'],
        [ORDER, 'MAX_QUEUED_BEHIND_LONG = 32', 'MAX_QUEUED_BEHIND_LONG = 1e9'],
      ],
      caught: /thousands of queued requests was left open|tiny requests: memory grew/,
    },
    'parses all bytes of a read at once': {
      change: ['src/http/core/node-internals.ts', 'if (control.isParsingStopped) return STOP;', ''],
      caught: /tiny requests: memory grew/,
      rounds: 50,
    },
    'buffers the body of a rejected request': {
      changes: [
        [
          BODIES,
          'const early = this.#endEarly();\n    early?.chunks.forEach(free);',
          'if (this.#kept) return;\n    const early = this.#endEarly();',
        ],
        [BODIES, 'MAX_EARLY_BYTES = 16 * 1024 * 1024', 'MAX_EARLY_BYTES = 1e12'],
      ],
      caught: /rejected requests: memory grew/,
      rounds: 50,
    },
  },
});

async function fill(server: TestServer): Promise<void> {
  const rows = Array.from({ length: PLANTS }, (_, n) => `${n},${NAME}\n`);
  assert.equal((await importFile(server, 'text/csv', `id,name\n${rows.join('')}`)).status, 200);
}

/**
 * Sends 300 creates in one write. The size of the write transactions shows how many were in progress. Another write can
 * be in the same transaction, such as the time at which a token was last used, so the best of several attempts counts.
 */
async function createTogether(server: TestServer): Promise<void> {
  const admin = (await addToken(server.databaseUrl, { scopes: ['admin'] })).secret;
  let batches = Number.POSITIVE_INFINITY;
  for (let tries = 1; tries <= TRIES && batches > 0; tries++) {
    const before = await largeBatches(server, admin);
    const creates = Array.from({ length: 300 }, (_, n) => {
      const body = `{"id":${tries * 10_000 + n},"name":"x"}`;
      return `POST /plants HTTP/1.1\r\nHOST AUTH TYPE X-Request-Id: ${n}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    });
    await sendInOrder(server, creates);
    batches = (await largeBatches(server, admin)) - before;
  }
  assert.equal(batches, 0, `more than ${MAX_IN_PROGRESS} creates of one connection were in progress`);
}

async function largeBatches({ port }: TestServer, admin: string): Promise<number> {
  const { body } = await send(port, { path: '/metrics', headers: { authorization: `Bearer ${admin}` } });
  const read = (suffix: string) =>
    Number(new RegExp(`^plant_store_batch_writes_${suffix} (\\d+)$`, 'm').exec(body)?.[1]);
  return read('count') - read(`bucket\\{le="${MAX_IN_PROGRESS}"\\}`);
}

/** Returns the maximum wait of other clients, in the best of several attempts. */
async function listInOneWrite(server: TestServer, count: number): Promise<number> {
  const lists = Array.from(
    { length: count },
    (_, n) => `GET /plants?limit=1000 HTTP/1.1\r\nHOST AUTH X-Request-Id: ${n}\r\n\r\n`,
  );
  let bestMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && bestMs > MAX_WAIT_MS; tries++) {
    const { port, threads, secret } = server;
    const reads = { port, threads, secret, path: '/healthz', pauseMs: 10, pid: undefined };
    const times = await readTimesDuring(reads, () => sendInOrder(server, lists));
    bestMs = Math.min(bestMs, Math.max(...times));
  }
  assert.ok(bestMs <= MAX_WAIT_MS, `others waited ${bestMs.toFixed(0)} ms`);
  return bestMs;
}

/** Sends all requests in one write. Each has its position as request id. */
async function sendInOrder({ port, secret }: TestServer, requests: string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1', () => socket.write(fillIn(secret, requests.join(''))));
  const seen: number[] = [];
  let rest = '';
  for await (const chunk of socket) {
    rest += chunk.toString('latin1');
    for (const [, id] of rest.matchAll(/x-request-id: (\d+)\r\n/g)) seen.push(Number(id));
    rest = rest.slice(Math.max(0, rest.lastIndexOf('\n') + 1));
    if (seen.length === requests.length) break;
  }
  socket.destroy();
  assert.deepEqual(seen, [...requests.keys()], 'responses out of order, or missing');
}

/** Sends the stream request and the others in one write, so that the server reads some of them together. */
async function behindStreams(server: TestServer, count: number, name: string): Promise<number> {
  const stream = 'GET /events HTTP/1.1\r\nHOST AUTH Accept: text/event-stream\r\n\r\n';
  const bytes = fillIn(server.secret, stream + BEHIND[name]);
  const beforeKib = residentKib(server);
  const sockets = await openAll(server, count, async (socket) => {
    socket.write(bytes);
    await until(() => socket.bytesRead > 0 || socket.closed);
    if (name !== 'tiny requests') socket.pause();
  });
  const grown = await measure(server, sockets, beforeKib, `after event streams, ${name}`);
  if (name === 'tiny requests') await requireClosed(server, bytes);
  return grown;
}

/**
 * Checks that the server closes a connection on which it has read many requests after a stream. Only one is open at a
 * time, since connections share a queue: if it is full, the server reads no further requests and leaves them open.
 */
async function requireClosed(server: TestServer, bytes: Uint8Array): Promise<void> {
  for (let n = 0; n < CLOSED; n++) {
    const [socket] = await openAll(server, 1, async (socket) => {
      socket.write(bytes);
      await until(() => socket.closed, 5000).catch(() => {});
    });
    assert.ok(socket?.closed, 'a connection with thousands of queued requests was left open');
  }
}

/** Opens the connections first, so that their own memory does not count. The bodies are never complete. */
async function sendRefused(server: TestServer, count: number): Promise<number> {
  const stranger = `POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(1)}`;
  const guesser = stranger.replace('TYPE ', 'TYPE AUTH ');
  const wrong = `${server.secret.slice(0, -1)}${server.secret.endsWith('x') ? 'y' : 'x'}`;
  const [first, ...others] = [stranger, guesser].map((text) => fillIn(wrong, text)) as [Uint8Array, Uint8Array];
  const sockets = await openAll(server, count, async (socket) => {
    socket.write('POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    await until(() => socket.bytesRead > 0);
  });
  const beforeKib = residentKib(server);
  const before = sockets.map(({ bytesRead }) => bytesRead);
  for (const [n, socket] of sockets.entries()) socket.write(n % 4 === 0 ? first : (others[0] ?? first));
  await until(() => sockets.every(({ bytesRead, closed }, n) => closed || bytesRead > (before[n] ?? 0)));
  return measure(server, sockets, beforeKib, 'rejected requests');
}

async function openAll({ port }: TestServer, count: number, use: (socket: Socket) => Promise<void>): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(100, count - sockets.length) }, () => connect(port, '127.0.0.1'));
    for (const socket of some) socket.on('error', () => {}).on('data', () => {});
    await Promise.all(some.map(use));
    sockets.push(...some);
  }
  return sockets;
}

/** Returns the maximum memory growth in MiB. */
async function measure(server: TestServer, sockets: Socket[], beforeKib: number, name: string): Promise<number> {
  let mostKib = 0;
  for (let n = 0; n < 6; n++) {
    mostKib = Math.max(mostKib, residentKib(server) - beforeKib);
    await setTimeout(100);
  }
  for (const socket of sockets) socket.destroy();
  assert.ok(mostKib < MAX_GROWTH_KIB, `${name}: memory grew by ${Math.round(mostKib / 1024)} MiB`);
  return Math.round(mostKib / 1024);
}
