// Compares creates on PostgreSQL with one INSERT per plant and a pool of 10, on the same server in turns: without HTTP,
// and over HTTP with 64 connections if wrk is installed. Target: at least 5 times the rate. It also measures CPU time
// and WAL bytes per plant, the basis of docs/background/sizing.md.

import { join } from 'node:path';
import pg from 'pg';
import { openPostgresStore } from '../src/storage/postgres/store.ts';
import { startDatabase } from './database.ts';
import type { Request } from './load.ts';
import { cpuUsOf } from './measure.ts';
import { plantAt } from './plants.ts';
import { startProcess, startTokenedServer, toCreate } from './server.ts';
import { isWrkHere, wrk } from './wrk.ts';

const CREATES = Number(process.env.BENCH_PLANTS ?? 20_000);
const ROUNDS = 3;
const WRK_SECONDS = 5;

interface Measured {
  perSecond: number;
  nodeUs: number;
  postgresUs: number;
  walBytes: number;
}

const postgres = await startDatabase({ max_wal_size: '4GB' });
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

console.log(`${CREATES.toLocaleString('en')} creates, best of ${ROUNDS}, in turns; CPU time and WAL bytes per plant\n`);
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
  show(`one INSERT per plant, ${callers} callers`, other);
  show(`Plant Store, ${callers} callers`, own, own.perSecond / other.perSecond);
}
await pool.end();
if (isWrkHere) await overHttp();
else console.log('\nwrk is missing, so HTTP is skipped: run apt-get install wrk');
await store.close();
await postgres.remove();

async function measure(work: (n: number) => Promise<unknown>, callers: number): Promise<Measured> {
  const [end, startMs] = [nextId + CREATES, performance.now()];
  const [node, serverUs, wal] = [process.cpuUsage(), postgresUs(), await walPosition()];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (nextId < end) await work(nextId++);
    }),
  );
  const { user, system } = process.cpuUsage(node);
  return {
    perSecond: (1000 * CREATES) / (performance.now() - startMs),
    nodeUs: (user + system) / CREATES,
    postgresUs: (postgresUs() - serverUs) / CREATES,
    walBytes: ((await walPosition()) - wal) / CREATES,
  };
}

async function overHttp(): Promise<void> {
  const ours = await startTokenedServer(postgres.url);
  const request = toCreate(ours.secret);
  const theirs = await startProcess(process.execPath, [join(import.meta.dirname, 'one-insert-server.ts')], {
    env: { DATABASE_URL: postgres.url },
    address: /^(http.+)$/,
  });
  const rates: Record<string, number[]> = { ours: [], theirs: [] };
  for (let round = 0; round < ROUNDS; round++) {
    rates.theirs?.push(await load(theirs.url, request));
    rates.ours?.push(await load(ours.url, request));
  }
  const [own, other] = [Math.max(...(rates.ours ?? [])), Math.max(...(rates.theirs ?? []))];
  console.log('\nOver HTTP, 64 connections. HTTP itself takes most of the time.');
  console.log(`one INSERT per plant   ${Math.round(other).toLocaleString('en')}/s`);
  console.log(`Plant Store            ${Math.round(own).toLocaleString('en')}/s, ratio ${(own / other).toFixed(1)}`);
  await ours.stop();
  await theirs.stop();
}

async function load(url: string, request: Request): Promise<number> {
  const first = nextId + 1;
  nextId += 10_000_000;
  return (await wrk({ url, request, first, seconds: WRK_SECONDS, folder: postgres.folder })).perSecond;
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
  const [row] = await postgres.query(`SELECT pg_current_wal_lsn() - '0/0' AS bytes`);
  return Number(row?.bytes);
}

/** Returns the CPU time of the PostgreSQL server and its processes, or 0 if unknown. */
function postgresUs(): number {
  return cpuUsOf(postgres.pid) ?? 0;
}
