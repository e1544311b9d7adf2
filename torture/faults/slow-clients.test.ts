// Clients that send or read a few bytes now and then, for as long as possible. The server must disconnect them without
// an effect on others. The trial uses its own sockets, all at the same time. The full form adds slowhttptest.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post, send } from '../../testing/request.ts';
import { residentKib, type TestServer } from '../../testing/server.ts';
import { waitForThreads } from '../../testing/threads.ts';
import { fault, type Trial } from '../fault.ts';

const MAX_SECONDS = 15;
const MAX_GROWTH_KIB = 256 * 1024;
const DRIP_MS = 1000;
/** More responses than the buffers of two sockets hold. */
const ANSWERS = 150;
const MIN_ANSWER_BYTES = 60_000;
const MAX_TIMES_P99 = 2;

interface Slow {
  first: string;
  /** Bytes sent every second. */
  drip: string;
  status: number | undefined;
}

const KINDS: Record<string, Slow> = {
  'no bytes': { first: '', drip: '', status: 408 },
  headers: { first: 'POST /plants HTTP/1.1\r\nHOST ', drip: 'X-A: b\r\n', status: 408 },
  'a body': { first: 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 3000\r\n\r\n{', drip: ' ', status: 408 },
  chunks: {
    first: 'POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: chunked\r\n\r\n',
    drip: '1\r\n \r\n',
    status: 408,
  },
  'an import': {
    first: 'POST /plants/import HTTP/1.1\r\nHOST AUTH Content-Type: text/csv\r\nContent-Length: 99999\r\n\r\nid,name\n',
    drip: '1,x\n',
    status: 408,
  },
  'an unauthenticated body': {
    first: 'POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: 3000\r\n\r\n{',
    drip: ' ',
    status: 401,
  },
  reading: { first: 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(ANSWERS), drip: '', status: undefined },
};

fault({
  name: 'slow clients',
  mark: `The server disconnects each slow client within ${MAX_SECONDS} s. Other clients’ p99 latency at most doubles. Memory stays bounded.`,
  rounds: {
    short: 70,
    full: 1000,
    of: 'connections; the full form adds as many from slowhttptest for each of headers, body and reading',
  },
  skip: missing(),
  async trial(trial) {
    const { rounds, isFull, startServer } = trial;
    const server = await startServer();
    await waitForThreads(server);
    const flowing = flow(server);
    const beforeKib = residentKib(server);
    const kinds = Object.entries(KINDS);
    const lasted = await Promise.all(
      Array.from({ length: rounds }, async (_, n) => {
        // Only a few clients read slowly: producing their unread responses takes longer than all the rest.
        const [name, slow] = kinds[n % (n < 140 ? kinds.length : kinds.length - 1)] as [string, Slow];
        return beSlow(server, name, slow);
      }),
    );
    const worst = Math.max(...lasted);
    const grownKib = residentKib(server) - beforeKib;
    assert.ok(grownKib < MAX_GROWTH_KIB, `memory grew by ${grownKib} KiB`);
    assert.match(await flowing, /^HTTP\/1.1 200 .*"created":40,/s, 'a steady import was disconnected');
    assert.equal((await post(server, '{"id":-1,"name":"x"}')).status, 200);
    assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
    const seen = [`disconnected within ${worst.toFixed(1)} s`];
    if (isFull) seen.push(...(await attack(server, trial)));
    assert.equal(await server.stop(), 0);
    return seen.join(', ');
  },
  controls: {
    'has a body timeout of 100 s': {
      change: ['src/http/core/timeouts.ts', 'bodyMs: 10_000', 'bodyMs: 100_000'],
      caught: /was not disconnected/,
    },
    'has a reader timeout of 500 s': {
      change: ['src/http/core/timeouts.ts', 'unreadMs: 5_000', 'unreadMs: 500_000'],
      caught: /reading was not disconnected/,
    },
  },
});

/** Returns the number of seconds until the server disconnected the client. */
async function beSlow(server: TestServer, name: string, { first, drip, status }: Slow): Promise<number> {
  const begunMs = performance.now();
  const seconds = () => (performance.now() - begunMs) / 1000;
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  let cutAfter: number | undefined;
  const cut = () => {
    cutAfter ??= seconds();
  };
  socket.on('error', cut).on('end', cut).on('close', cut);
  if (status === undefined) socket.pause();
  else
    socket.on('data', (chunk) => {
      received += chunk;
    });
  socket.write(fillIn(server.secret, first));
  while (cutAfter === undefined && seconds() < MAX_SECONDS) {
    await setTimeout(DRIP_MS);
    if (drip !== '' && socket.writable) socket.write(drip);
  }
  if (status === undefined && cutAfter === undefined) {
    // A client that does not read cannot see the disconnect. It gets the buffered bytes, or everything if still
    // connected.
    await drain(socket);
    if (socket.bytesRead < ANSWERS * MIN_ANSWER_BYTES) cutAfter = MAX_SECONDS;
  }
  socket.destroy();
  assert.ok(cutAfter !== undefined, `${name} was not disconnected within ${MAX_SECONDS} s: ${received.slice(0, 100)}`);
  // Some connections are reset before the client reads the response.
  const isOneTooMany = name === 'an import' && received.startsWith('HTTP/1.1 429 '); // a token may have 4 imports in progress
  if (status !== undefined && received !== '' && !isOneTooMany)
    assert.equal(Number(received.slice(9, 12)), status, `${name}: ${received}`);
  return cutAfter;
}

function drain(socket: Socket): Promise<unknown> {
  socket.resume();
  return new Promise((resolve) => {
    socket.on('close', resolve);
    socket.setTimeout(2000, () => resolve(undefined));
  });
}

/** Runs a slow import of 20 s that is fast enough not to be disconnected. */
function flow(server: TestServer): Promise<string> {
  const head = 'POST /plants/import HTTP/1.1\r\nHOST AUTH Content-Type: text/csv\r\nConnection: close\r\n';
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', async () => {
      socket.write(fillIn(server.secret, `${head}Transfer-Encoding: chunked\r\n\r\n8\r\nid,name\n\r\n`));
      for (let id = 100; id < 140; id++) {
        const row = `${id},${'x'.repeat(300)}\n`;
        if (socket.writable) socket.write(`${row.length.toString(16)}\r\n${row}\r\n`);
        await setTimeout(500);
      }
      if (socket.writable) socket.write('0\r\n\r\n');
    });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(received));
  });
}

/** Runs slowhttptest, which has no option for credentials. They are added to other headers. */
async function attack(server: TestServer, { rounds }: Trial): Promise<string[]> {
  const json = `application/json\r\nAuthorization: Bearer ${server.secret}`;
  const cookie = `a=b\r\nAuthorization: Bearer ${server.secret}`;
  const modes = {
    headers: ['-H', '-i', '1', '-u', `${server.url}/plants`],
    body: ['-B', '-i', '1', '-s', '8192', '-f', json, '-u', `${server.url}/plants`],
    // More than the system's buffers hold: the server cannot distinguish buffered bytes from received ones.
    read: [...'-X -n 1 -z 32 -w 512 -y 1024 -k 10'.split(' '), '-j', cookie, '-u', `${server.url}/plants`],
  };
  for (let id = 1000; id < 1009; id++) await post(server, `{"id":${id},"name":"${'x'.repeat(60_000)}"}`);
  await p99Of(server, 500);
  const seen: string[] = [];
  for (const [name, args] of Object.entries(modes)) {
    const alone = await p99Of(server, 4000);
    const idle = openFiles(server);
    // The lowest CPU priority, since real clients do not run on the server's machine.
    const command = ['-n', '19', 'slowhttptest', '-c', String(rounds), '-r', '200', '-l', '60', '-v', '0', ...args];
    const child = spawn('nice', command, { stdio: 'ignore' });
    const gone = once(child, 'exit');
    for (let n = 0; openFiles(server) - idle < rounds * 0.95 && n < 80; n++) await setTimeout(100); // the slow phase starts after the connections open
    const besides = await p99Of(server, 4000);
    let peak = openFiles(server);
    let peakMs = performance.now();
    let seconds = 0;
    for (let open = peak; open > idle + 2; open = openFiles(server)) {
      if (open > peak) {
        peak = open;
        peakMs = performance.now();
      }
      seconds = (performance.now() - peakMs) / 1000;
      assert.ok(
        seconds < MAX_SECONDS,
        `slowhttptest, ${name}: ${open - idle} connections are still open ${seconds.toFixed(0)} s after the last was opened`,
      );
      await setTimeout(200);
    }
    child.kill('SIGKILL');
    await gone;
    const times = besides / alone;
    assert.ok(
      times <= MAX_TIMES_P99,
      `slowhttptest, ${name}: p99 of others ${alone.toFixed(1)} ms before, ${besides.toFixed(1)} ms during the attack`,
    );
    seen.push(
      `slowhttptest ${name}: ${peak - idle} concurrent, none after ${seconds.toFixed(0)} s, p99 × ${times.toFixed(1)}`,
    );
  }
  return seen;
}

/** Returns the p99 of sequential reads: the median of three runs, since other processes may disturb one of them. */
async function p99Of(server: TestServer, durationMs: number): Promise<number> {
  const all: number[] = [];
  for (let time = 0; time < 3; time++) {
    const takenMs: number[] = [];
    for (const begunMs = performance.now(); performance.now() - begunMs < durationMs / 3; ) {
      const startMs = performance.now();
      const { status } = await send(server.port, {
        path: '/plants/-1',
        headers: { authorization: `Bearer ${server.secret}` },
      });
      assert.equal(status, 200);
      takenMs.push(performance.now() - startMs);
    }
    all.push(takenMs.sort((a, b) => a - b)[Math.floor(takenMs.length * 0.99)] as number);
  }
  return all.sort((a, b) => a - b)[1] as number;
}

function openFiles({ process: { pid } }: TestServer): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function missing(): string | undefined {
  if (process.platform !== 'linux') return 'needs Linux to count the connections of a process';
  const isThere = process.env.TORTURE_FORM !== 'full' || spawnSync('slowhttptest', ['-h']).error === undefined;
  return isThere ? undefined : 'slowhttptest is missing: run apt-get install slowhttptest';
}
