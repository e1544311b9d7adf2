// What a rate costs: creates by a token that has one against creates by a token that has none, on one server in turns,
// with 64 connections of wrk; and the limiter alone, on a real reply. Targets: within 3 %, and under 1 µs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openStore } from '../src/commands/open.ts';
import { Reply } from '../src/http/exchange.ts';
import { createLimits } from '../src/http/limits.ts';
import { issueToken, type Token } from '../src/token.ts';
import { isWrkHere, loadCreates } from './wrk.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const ROUND_SECONDS = 3;
const CALLS = 500_000;
const TICK_US = 10_000;
/** More than it can ever get. */
const RATE = { count: 1_000_000, periodMs: 1000 };

interface Measured {
  perSecond: number;
  cpuUs: number;
}

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
const path = join(folder, 'plants.db');
const store = await openStore({ kind: 'sqlite', path }, { role: 'command', observe() {}, onFailure() {} });
const wanted = { name: 'bench', scopes: ['plants:write' as const], expiresMs: null };
const free = await issueToken(store, wanted, Date.now());
const limited = await issueToken(store, { ...wanted, rate: RATE }, Date.now());
await store.close();

const costUs = measureLimiter(limited.token);
console.log(`The limiter with its two headers: ${costUs.toFixed(2)} µs of a request\n`);
if (isWrkHere) await overHttp();
else console.log('wrk is not installed: nothing over HTTP');
rmSync(folder, { recursive: true });

function measureLimiter(token: Token): number {
  const countRequest = createLimits();
  const reply = new Reply(new ServerResponse(new IncomingMessage(new Socket())));
  for (let n = 0; n < CALLS / 10; n++) countRequest(token, reply, performance.now()); // until it is compiled
  const begunMs = performance.now();
  for (let n = 0; n < CALLS; n++) countRequest(token, reply, performance.now());
  return (1000 * (performance.now() - begunMs)) / CALLS;
}

async function overHttp(): Promise<void> {
  const launcher = join(import.meta.dirname, '../bin/plant-store.js');
  const child = spawn(process.execPath, ['--max-semi-space-size=8', launcher, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let url = '';
  for await (const line of createInterface(child.stdout)) {
    url = /"url":"([^"]+)"/.exec(line)?.[1] ?? '';
    if (url) break;
  }
  const pid = child.pid ?? 0;
  await load(url, free.secret, pid, 0);
  const pairs: [Measured, Measured][] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [free, limited] : [limited, free];
    const one = await load(url, first.secret, pid, 2 * round);
    const other = await load(url, second.secret, pid, 2 * round + 1);
    pairs.push(first === free ? [one, other] : [other, one]);
  }
  child.kill();
  await once(child, 'exit');
  const without = pairs.map(([pair]) => pair);
  const withRate = pairs.map(([, pair]) => pair);
  console.log(`Creates, 64 connections, ${ROUNDS} rounds of ${ROUND_SECONDS} s each in turns, medians`);
  show('without a rate', without);
  show('with a rate', withRate);
  const throughput = median(pairs.map(([a, b]) => b.perSecond / a.perSecond));
  const cpu = median(pairs.map(([a, b]) => b.cpuUs / a.cpuUs));
  console.log(`ratio            ${throughput.toFixed(3)} of the rate, ${cpu.toFixed(3)} of the processor time`);
}

async function load(url: string, secret: string, pid: number, round: number): Promise<Measured> {
  const before = ticksOf(pid);
  const firstId = round * 10_000_000;
  const { requests, perSecond } = await loadCreates({ url, secret, firstId, seconds: ROUND_SECONDS, folder });
  return { perSecond, cpuUs: ((ticksOf(pid) - before) * TICK_US) / requests };
}

/** Of all its threads, in hundredths of a second; 0 where it cannot be told. */
function ticksOf(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function show(name: string, all: Measured[]): void {
  const rate = Math.round(median(all.map(({ perSecond }) => perSecond))).toLocaleString('en');
  const cpu = Math.round(median(all.map(({ cpuUs }) => cpuUs)));
  console.log(`${name.padEnd(16)} ${rate.padStart(7)}/s ${String(cpu).padStart(5)} µs`);
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
