// The cost of a rate limit: creates with a limited and an unlimited token, on one server in turns, over 64 connections
// of wrk, and the limiter alone on a real reply. Targets: within 3 %, and under 1 µs.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Token } from '../src/domain/token.ts';
import { createRateLimit } from '../src/http/access/rate-limit.ts';
import { createSharedLimits } from '../src/http/access/shared-limits.ts';
import { HttpReply } from '../src/http/core/request-reply.ts';
import { addToken } from '../testing/launch.ts';
import { median } from './measure.ts';
import { type BenchServer, makeBenchFolder, startServer } from './server.ts';
import { isWrkHere, loadCreates } from './wrk.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const ROUND_SECONDS = 3;
const CALLS = 500_000;
/** Rate limit that the load cannot reach. */
const RATE = { count: 1_000_000, periodMs: 1000 };

interface Measured {
  perSecond: number;
  cpuUs: number;
}

const folder = makeBenchFolder();
const databaseUrl = `sqlite:${join(folder, 'plants.db')}`;
const free = await addToken(databaseUrl);
const limited = await addToken(databaseUrl, { rate: RATE });

const costUs = measureLimiter(limited.token);
console.log(`The limiter with its two headers: ${costUs.toFixed(2)} µs per request\n`);
if (isWrkHere) await overHttp();
else console.log('wrk is missing, so HTTP is skipped: run apt-get install wrk');

function measureLimiter(token: Token): number {
  const takeFromRate = createRateLimit(createSharedLimits().rates);
  const reply = new HttpReply(new ServerResponse(new IncomingMessage(new Socket())));
  for (let n = 0; n < CALLS / 10; n++) takeFromRate(token, reply, performance.now()); // until V8 has compiled it
  const begunMs = performance.now();
  for (let n = 0; n < CALLS; n++) takeFromRate(token, reply, performance.now());
  return (1000 * (performance.now() - begunMs)) / CALLS;
}

async function overHttp(): Promise<void> {
  const server = await startServer(databaseUrl);
  await load(server, free.secret, 0);
  const pairs: [Measured, Measured][] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const [first, second] = round % 2 === 0 ? [free, limited] : [limited, free];
    const one = await load(server, first.secret, 2 * round);
    const other = await load(server, second.secret, 2 * round + 1);
    pairs.push(first === free ? [one, other] : [other, one]);
  }
  await server.stop();
  const without = pairs.map(([pair]) => pair);
  const withRate = pairs.map(([, pair]) => pair);
  console.log(`Creates, 64 connections, ${ROUNDS} rounds of ${ROUND_SECONDS} s each in turns, medians`);
  show('without a rate', without);
  show('with a rate', withRate);
  const throughput = median(pairs.map(([a, b]) => b.perSecond / a.perSecond));
  const cpu = median(pairs.map(([a, b]) => b.cpuUs / a.cpuUs));
  console.log(`ratio            ${throughput.toFixed(3)} of the rate, ${cpu.toFixed(3)} of the CPU time`);
}

function load(server: BenchServer, secret: string, round: number): Promise<Measured> {
  return loadCreates({ ...server, secret }, { first: 1 + round * 10_000_000, seconds: ROUND_SECONDS, folder });
}

function show(name: string, all: Measured[]): void {
  const rate = Math.round(median(all.map(({ perSecond }) => perSecond))).toLocaleString('en');
  const cpu = Math.round(median(all.map(({ cpuUs }) => cpuUs)));
  console.log(`${name.padEnd(16)} ${rate.padStart(7)}/s ${String(cpu).padStart(5)} µs`);
}
