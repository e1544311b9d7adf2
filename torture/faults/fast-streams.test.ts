// Streams that their clients read as fast as the server sends them, and files with very many bad lines. Neither the
// server's thread nor a revoked token nor a stop may wait for their ends.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { addToken, besideServer, makeFolder, needsCurl, type TestServer } from '../../testing/server.ts';
import { answerOf, importRequest } from '../../testing/transfer.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { readTimesDuring } from '../read-times.ts';

const MAX_LATE_MS = 100;
/** The best attempt counts: a stream that keeps the thread does so each time, other processes on the machine do not. */
const TRIES = 4;
const PLANTS = { short: 60_000, full: 300_000 };
/** Lines of one byte that is not UTF-8: 1 MiB in all. */
const BAD_LINES = 524_280;
const MAX_REVOKED_MS = 1000;
const MAX_STOP_MS = 9500;

type Target = Pick<TestServer, 'url' | 'secret'>;

fault({
  name: 'a stream read at full speed',
  mark: 'Every /healthz response takes at most 100 ms, a revoked token gets nothing after 1 s, and the server stops within 9.5 s.',
  rounds: { short: 1, full: 2, of: 'numbers of threads' },
  skip: needsCurl.skip,
  async trial(trial) {
    const seen: string[] = [];
    for (let threads = 1; threads <= trial.rounds; threads++) seen.push(await tryAll(trial, threads));
    return seen.join('; ');
  },
  controls: {},
});

async function tryAll({ startServer, isFull }: Trial, threads: number): Promise<string> {
  const server = await startServer({ env: { THREADS: String(threads) } });
  const plants = PLANTS[isFull ? 'full' : 'short'];
  await addPlants(server, 0, plants);
  const late = new Map<string, number>();

  for (const type of ['application/x-ndjson', 'text/csv']) {
    await hold(`an export as ${type}`, () => ended([read(server, '/plants/export', type)]));
  }
  await hold('a replay', () => replay(1));
  await hold('four replays', () => replay(4));
  await hold('a follower beside an import', async () => {
    const follower = follow(server, await lastSeqOf(server));
    await addPlants(server, (late.size + Math.random()) * 1e9, (plants * 2) / 3);
    await ended([follower], 'SIGTERM');
  });
  const bad = Buffer.concat([Buffer.from('id,name\n1,"'), ...Array(BAD_LINES).fill(Buffer.of(0xff, 0x0a))]);
  await hold('CSV of bad lines behind an open quotation mark', () => importBad('text/csv', bad));
  for (const line of ['', '"', ','.repeat(900), ','.repeat(30_000)]) {
    const open = Buffer.from(`id,name,tag\n1,"x\n${`${line}\n`.repeat(2 ** 20 / (line.length + 1))}`);
    await hold(`CSV with an open quotation mark before lines of ${line.length} characters`, () =>
      importBad('text/csv', open, 0),
    );
  }
  await hold('NDJSON of bad lines', () => importBad('application/x-ndjson', bad));

  const { secret, token } = await addToken(server.databaseUrl, { scopes: ['plants:read'] });
  const revoked = await followers({ ...server, secret });
  await besideServer(server.databaseUrl, (store) => store.revokeToken(token.id, Date.now()));
  const revokedMs = performance.now();
  await ended(revoked);
  const revocationMs = performance.now() - revokedMs;
  assert.ok(revocationMs <= MAX_REVOKED_MS, `a revoked token still received data after ${revocationMs.toFixed(0)} ms`);

  await followers(server);
  const stopMs = performance.now();
  assert.equal(await server.stop(), 0);
  const stoppedMs = performance.now() - stopMs;
  assert.ok(stoppedMs <= MAX_STOP_MS, `the stop took ${stoppedMs.toFixed(0)} ms`);
  return `${threads} threads: ${[...late].map(([name, ms]) => `${name} ${ms.toFixed(0)} ms`).join(', ')}, revoked after ${revocationMs.toFixed(0)} ms, stopped after ${stoppedMs.toFixed(0)} ms`;

  async function hold(name: string, work: () => Promise<unknown>): Promise<void> {
    const { port, secret, process } = server;
    let bestMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < TRIES && bestMs > MAX_LATE_MS; attempt++) {
      const polls = { port, threads: server.threads, secret, path: '/healthz', pid: process.pid, pauseMs: 2 };
      bestMs = Math.min(bestMs, Math.max(...(await readTimesDuring(polls, work))));
    }
    assert.ok(bestMs <= MAX_LATE_MS, `${name}: /healthz was ${bestMs.toFixed(0)} ms late`);
    late.set(name, bestMs);
  }

  /** Replays the whole change log. */
  async function replay(count: number): Promise<void> {
    const end = `\nid: ${await lastSeqOf(server)}\n`;
    const files = Array.from({ length: count }, () => join(makeFolder(), 'events'));
    const streams = files.map((file) => follow(server, 0, file));
    await until(() => files.every((file) => tailOf(file).includes(end)), 120_000);
    await ended(streams, 'SIGTERM');
    for (const file of files) rmSync(file);
  }

  async function importBad(type: string, body: Buffer, atLeast = BAD_LINES): Promise<void> {
    const sent = importRequest(server, type);
    sent.end(body);
    assert.ok((await answerOf(sent)).failed >= atLeast);
  }
}

function addPlants({ databaseUrl }: TestServer, firstId: number, count: number): Promise<void> {
  return besideServer(databaseUrl, async (store) => {
    for (let at = 0; at < count; at += 10_000) {
      const ids = Array.from({ length: 10_000 }, (_, n) => BigInt(Math.floor(firstId)) + BigInt(at + n));
      await store.import(
        ids.map((id) => ({ id, name: `Monstera deliciosa ${id}`, tag: 'indoor' })),
        { tokenId: 'tok_1' },
      );
    }
  });
}

function lastSeqOf({ databaseUrl }: TestServer): Promise<number> {
  return besideServer(databaseUrl, (store) => store.lastSeq());
}

/** Reads with curl, a process of its own that reads as fast as the server sends. */
function read({ url, secret }: Target, path: string, accept: string, file = '/dev/null'): ChildProcess {
  const headers = ['-H', `Authorization: Bearer ${secret}`, '-H', `Accept: ${accept}`];
  return spawn('curl', ['-sN', '-o', file, ...headers, `${url}${path}`], { stdio: 'ignore' });
}

function follow(target: Target, after: number, file?: string): ChildProcess {
  return read(target, `/events?after=${after}`, 'text/event-stream', file);
}

/** Starts four replays. Returns when all of them have received data. */
async function followers(target: Target): Promise<ChildProcess[]> {
  const files = Array.from({ length: 4 }, () => join(makeFolder(), 'events'));
  const streams = files.map((file) => follow(target, 0, file));
  await until(() => files.every((file) => tailOf(file) !== ''));
  return streams;
}

function tailOf(file: string): string {
  if (!existsSync(file)) return '';
  const opened = openSync(file, 'r');
  try {
    const tail = Buffer.alloc(500);
    const length = readSync(opened, tail, 0, tail.length, Math.max(0, fstatSync(opened).size - tail.length));
    return tail.toString('utf8', 0, length);
  } finally {
    closeSync(opened);
  }
}

async function ended(children: ChildProcess[], signal?: NodeJS.Signals): Promise<void> {
  if (signal) for (const child of children) child.kill(signal);
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
}
