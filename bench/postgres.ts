// Creates on PostgreSQL against one INSERT for each with a pool of 10, on the same server in turns: without HTTP on
// either side, and over HTTP with 64 connections where wrk is installed. Target: at least 5 times the rate.
// Besides: processor time of both sides and bytes of the log for each plant, which docs/scaling.md is reckoned from.

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { openPostgresStore } from '../src/postgres/store.ts';
import { issueToken } from '../src/token.ts';
import { queryPostgres, startPostgres } from '../test/postgres.ts';
import { plantAt } from './plants.ts';
import { isWrkHere, loadCreates } from './wrk.ts';

const CREATES = Number(process.env.BENCH_PLANTS ?? 20_000);
const ROUNDS = 3;
const WRK_SECONDS = 5;
const launcher = join(import.meta.dirname, '../bin/plant-store.js');

interface Measured {
  perSecond: number;
  nodeUs: number;
  postgresUs: number;
  walBytes: number;
}

const postgres = await startPostgres({ max_wal_size: '4GB' });
const store = await openPostgresStore({
  url: postgres.url,
  poolSize: 10,
  statementTimeoutMs: 10_000,
  observe: () => {},
});
const pool = new pg.Pool({ connectionString: postgres.url, max: 10 });
await pool.query('CREATE TABLE plain (id bigint PRIMARY KEY, name text NOT NULL, tag text)');

let nextId = 0;
const create = (n: number) => {
  const { id, name, tag } = plantAt(n);
  return store.create(tag === undefined ? { id: BigInt(id), name } : { id: BigInt(id), name, tag }, {
    tokenId: 'tok_b',
  });
};
const insert = (n: number) => {
  const { id, name, tag } = plantAt(n);
  return pool.query('INSERT INTO plain (id, name, tag) VALUES ($1, $2, $3)', [id, name, tag]);
};

console.log(`${CREATES.toLocaleString('en')} creates, best of ${ROUNDS}, in turns; processor time and log for each\n`);
console.log(`${''.padEnd(34)}      rate      Node   PostgreSQL        WAL   ratio of rates`);
await measure(create, 64);
await measure(insert, 64);
for (const callers of [64, 256, 1000]) {
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await measure(insert, callers));
    ours.push(await measure(create, callers));
  }
  const [own, other] = [best(ours), best(theirs)];
  show(`one INSERT each, ${callers} callers`, other);
  show(`plant store, ${callers} callers`, own, own.perSecond / other.perSecond);
}
await pool.end();
if (isWrkHere) await overHttp();
else console.log('\nwrk is not installed: nothing over HTTP');
await store.close();
await postgres.remove();

async function measure(work: (n: number) => Promise<unknown>, callers: number): Promise<Measured> {
  const [end, startMs] = [nextId + CREATES, performance.now()];
  const [node, server, wal] = [process.cpuUsage(), postgresTicks(), await walPosition()];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (nextId < end) await work(nextId++);
    }),
  );
  const { user, system } = process.cpuUsage(node);
  return {
    perSecond: (1000 * CREATES) / (performance.now() - startMs),
    nodeUs: (user + system) / CREATES,
    postgresUs: ((postgresTicks() - server) * 10_000) / CREATES,
    walBytes: ((await walPosition()) - wal) / CREATES,
  };
}

async function overHttp(): Promise<void> {
  const { secret } = await issueToken(store, { name: 'bench', scopes: ['plants:write'], expiresMs: null }, Date.now());
  const ours = await start([launcher, 'serve'], /"url":"([^"]+)"/);
  const theirs = await start([join(import.meta.dirname, 'one-insert-server.ts')], /^(http.+)$/);
  const rates: Record<string, number[]> = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rates.theirs?.push(await load(theirs.url, secret));
    rates.ours?.push(await load(ours.url, secret));
  }
  const [own, other] = [Math.max(...(rates.ours ?? [])), Math.max(...(rates.theirs ?? []))];
  console.log('\nOver HTTP, 64 connections: here HTTP itself takes most of the time');
  console.log(`one INSERT each   ${Math.round(other).toLocaleString('en')}/s`);
  console.log(`plant store       ${Math.round(own).toLocaleString('en')}/s, ratio ${(own / other).toFixed(1)}`);
  for (const { child } of [ours, theirs]) child.kill();
}

async function start(args: string[], address: RegExp): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, ['--max-semi-space-size=8', ...args], {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: postgres.url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const url = address.exec(line)?.[1];
    if (url) return { url, child };
  }
  throw new Error('It did not start');
}

async function load(url: string, secret: string): Promise<number> {
  const firstId = nextId;
  nextId += 10_000_000;
  const { folder } = postgres;
  return (await loadCreates({ url, secret, firstId, seconds: WRK_SECONDS, folder })).perSecond;
}

function best(all: Measured[]): Measured {
  return all.reduce((one, other) => (other.perSecond > one.perSecond ? other : one));
}

function show(name: string, { perSecond, nodeUs, postgresUs, walBytes }: Measured, ratio?: number): void {
  const cells = [
    `${Math.round(perSecond).toLocaleString('en')}/s`,
    `${Math.round(nodeUs)} µs`,
    `${Math.round(postgresUs)} µs`,
    `${Math.round(walBytes)} bytes`,
  ];
  const widths = [10, 10, 13, 11];
  console.log(
    `${name.padEnd(34)}${cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('')}   ${ratio ? ratio.toFixed(1) : ''}`,
  );
}

async function walPosition(): Promise<number> {
  const [row] = await queryPostgres(postgres.url, `SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(row?.bytes);
}

/** Of the server and its processes, in hundredths of a second; 0 where it cannot be told. */
function postgresTicks(): number {
  if (process.platform !== 'linux') return 0;
  const parent = readFileSync(join(postgres.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0];
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [, ppid, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (ppid === parent || pid === parent) ticks += Number(rest[9]) + Number(rest[10]);
    } catch {
      // it has ended meanwhile
    }
  }
  return ticks;
}
