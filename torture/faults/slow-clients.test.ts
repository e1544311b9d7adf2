// Clients that send or read a little now and then, for as long as they are let: they are cut off, and nobody else
// notices. Sockets of our own, all at the same time; in the full form slowhttptest besides.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fillIn, post, send } from '../../testing/request.ts';
import { residentKib, type TestServer } from '../../testing/server.ts';
import { fault, type Trial } from '../fault.ts';

const MAX_SECONDS = 15;
const MAX_GROWTH_KIB = 256 * 1024;
const DRIP_MS = 1000;
/** More than fits into the buffers of two sockets. */
const ANSWERS = 150;
const MIN_ANSWER_BYTES = 60_000;
const MAX_TIMES_P99 = 2;

interface Slow {
  first: string;
  /** Every second. */
  drip: string;
  status: number | undefined;
}

const KINDS: Record<string, Slow> = {
  'nothing at all': { first: '', drip: '', status: 408 },
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
  'the body of a stranger': {
    first: 'POST /plants HTTP/1.1\r\nHOST TYPE Content-Length: 3000\r\n\r\n{',
    drip: ' ',
    status: 401,
  },
  reading: { first: 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(ANSWERS), drip: '', status: undefined },
};

fault({
  name: 'slow clients',
  mark: `cut off within ${MAX_SECONDS} s; others’ p99 ≤ 2 ×; memory bounded`,
  rounds: { short: 70, full: 1000, of: 'connections, and as many of slowhttptest for headers, body and reading' },
  skip: missing(),
  async trial(trial) {
    const { rounds, isFull, startServer } = trial;
    const server = await startServer();
    const flowing = flow(server);
    const beforeKib = residentKib(server);
    const kinds = Object.entries(KINDS);
    const lasted = await Promise.all(
      Array.from({ length: rounds }, async (_, n) => {
        // Of those who read slowly a few: to make what they do not read takes the machine longer than all the rest.
        const [name, slow] = kinds[n % (n < 140 ? kinds.length : kinds.length - 1)] as [string, Slow];
        return beSlow(server, name, slow);
      }),
    );
    const worst = Math.max(...lasted);
    const grownKib = residentKib(server) - beforeKib;
    assert.ok(grownKib < MAX_GROWTH_KIB, `it took ${grownKib} KiB`);
    assert.match(await flowing, /^HTTP\/1.1 200 .*"created":40,/s, 'an import that flows was cut off');
    assert.equal((await post(server, '{"id":-1,"name":"x"}')).status, 200);
    assert.doesNotMatch(server.output(), /"level":"(error|fatal)"/);
    const seen = [`cut off after ${worst.toFixed(1)} s at most`];
    if (isFull) seen.push(...(await attack(server, trial)));
    assert.equal(await server.stop(), 0);
    return seen.join(', ');
  },
  controls: {
    'one that waits for a body for as long as it takes': {
      change: ['src/http/core/timeouts.ts', 'bodyMs: 10_000', 'bodyMs: 100_000'],
      caught: /was not cut off/,
    },
    'one that waits for a reader for as long as it takes': {
      change: ['src/http/core/timeouts.ts', 'unreadMs: 5_000', 'unreadMs: 500_000'],
      caught: /reading was not cut off/,
    },
  },
});

/** Gives after how many seconds it was cut off. */
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
    // Who does not read does not see it: what is in the buffers comes first, and all of it if it was not cut off.
    await drain(socket);
    if (socket.bytesRead < ANSWERS * MIN_ANSWER_BYTES) cutAfter = MAX_SECONDS;
  }
  socket.destroy();
  assert.ok(cutAfter !== undefined, `${name} was not cut off in ${MAX_SECONDS} s: ${received.slice(0, 100)}`);
  // Some are reset before they have read why.
  const isOneTooMany = name === 'an import' && received.startsWith('HTTP/1.1 429 '); // a token may have 4 in progress
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

/** An import of 20 s that is not fast, and must not be cut off. */
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

/** slowhttptest sends no credentials by itself. */
async function attack(server: TestServer, { rounds }: Trial): Promise<string[]> {
  const json = `application/json\r\nAuthorization: Bearer ${server.secret}`;
  const cookie = `a=b\r\nAuthorization: Bearer ${server.secret}`;
  const modes = {
    headers: ['-H', '-i', '1', '-u', `${server.url}/plants`],
    body: ['-B', '-i', '1', '-s', '8192', '-f', json, '-u', `${server.url}/plants`],
    // More than fits into the buffers of the system: what fits is sent, as far as anybody can tell.
    read: [...'-X -n 1 -z 32 -w 512 -y 1024 -k 3'.split(' '), '-j', cookie, '-u', `${server.url}/plants`],
  };
  for (let id = 1000; id < 1009; id++) await post(server, `{"id":${id},"name":"${'x'.repeat(60_000)}"}`);
  await p99Of(server, 500);
  const seen: string[] = [];
  for (const [name, args] of Object.entries(modes)) {
    const alone = await p99Of(server, 4000);
    const idle = openFiles(server);
    // Last in line for the processor: the clients of strangers do not run on our machine.
    const command = ['-n', '19', 'slowhttptest', '-c', String(rounds), '-r', '200', '-l', '60', '-v', '0', ...args];
    const child = spawn('nice', command, { stdio: 'ignore' });
    const gone = once(child, 'exit');
    for (let n = 0; openFiles(server) - idle < rounds * 0.95 && n < 80; n++) await setTimeout(100); // to open them is not slow
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
        `slowhttptest, ${name}: ${open - idle} connections are open ${seconds.toFixed(0)} s after the last`,
      );
      await setTimeout(200);
    }
    child.kill('SIGKILL');
    await gone;
    const times = besides / alone;
    assert.ok(
      times <= MAX_TIMES_P99,
      `slowhttptest, ${name}: p99 of others ${alone.toFixed(1)} ms, besides ${besides.toFixed(1)} ms`,
    );
    seen.push(
      `slowhttptest ${name}: ${peak - idle} open at once, none ${seconds.toFixed(0)} s later, p99 × ${times.toFixed(1)}`,
    );
  }
  return seen;
}

/** Of reads, one after the other: the middle of three times, as others may have the processor in one of them. */
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
  if (process.platform !== 'linux') return 'only Linux tells how many connections a process has';
  const isThere = process.env.TORTURE_FORM !== 'full' || spawnSync('slowhttptest', ['-h']).error === undefined;
  return isThere ? undefined : 'slowhttptest is missing: apt-get install slowhttptest';
}
