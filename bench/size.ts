// How reads slow down as the store grows: the same requests to a server with 10 thousand plants and to one with
// 1 million, in turns, over one connection each. Target: p99 at most 2 times as long.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openSqliteStore } from '../src/sqlite/store.ts';
import { issueToken } from '../src/token.ts';
import { plantAt, toNdjson, writePlants } from './plants.ts';

const SIZES = [10_000, Number(process.env.BENCH_PLANTS ?? 1_000_000)];
const REQUESTS = 3000;
const launcher = join(import.meta.dirname, '../bin/plant-store.js');
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

interface Server {
  size: number;
  port: number;
  secret: string;
  process: ChildProcess;
}

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
const servers: Server[] = [];
for (const size of SIZES) servers.push(await start(size));

const random = seeded(1);
const PATHS: Record<string, (size: number) => string> = {
  'GET by id': (size) => `/plants/${1 + Math.floor(random() * size)}`,
  'page of 100': (size) => `/plants?cursor=${anyOf(cursors.get(size) ?? [])}`,
  'q, a whole word': () => `/plants?q=${word(0).toLowerCase()}`,
  'q, three letters': () => `/plants?q=${word(0).slice(0, 3)}`,
  'q, two letters': () => `/plants?q=${word(1).slice(0, 2)}`,
  'q, one letter': () => `/plants?q=${word(1).slice(0, 1)}`,
  'q, two words, 5 found': () => `/plants?limit=5&q=${word(0).slice(0, 4)}+${word(1).slice(0, 4)}`,
  'q that finds nothing': () => '/plants?q=zzyzx',
  'q and tag, 5 found': () => `/plants?limit=5&tag=tree&q=${word(0)}`,
  tag: () => '/plants?tag=fern',
};
const cursors = new Map<number, string[]>();
for (const server of servers) cursors.set(server.size, await someCursors(server));

console.log(`p99 in ms (p50) of ${REQUESTS} requests each\n`);
console.log(`${''.padEnd(22)}${SIZES.map((size) => size.toLocaleString('en').padStart(18)).join('')}   ratio of p99`);
for (const [name, toPath] of Object.entries(PATHS)) {
  const times = servers.map((): number[] => []);
  for (let n = -200; n < REQUESTS; n++) {
    for (const [at, server] of servers.entries()) {
      const path = toPath(server.size);
      const startMs = performance.now();
      await read(server, path);
      if (n >= 0) times[at]?.push(performance.now() - startMs);
    }
  }
  const p99 = times.map((all) => percentile(all, 0.99));
  const shown = times.map((all, at) => `${p99[at]?.toFixed(2)} (${percentile(all, 0.5).toFixed(2)})`.padStart(18));
  console.log(`${name.padEnd(22)}${shown.join('')}   ${((p99[1] ?? 0) / (p99[0] ?? 1)).toFixed(2)}`);
}
for (const server of servers) {
  server.process.kill();
  await once(server.process, 'exit');
}
agent.destroy();
rmSync(folder, { recursive: true, force: true });

async function start(size: number): Promise<Server> {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${folder}/${size}.db` };
  await writePlants(join(folder, 'plants.ndjson'), size, toNdjson);
  await once(
    spawn(process.execPath, [launcher, 'import', join(folder, 'plants.ndjson')], { env, stdio: 'ignore' }),
    'exit',
  );
  const store = await openSqliteStore({
    path: join(folder, `${size}.db`),
    role: 'command',
    observe: () => {},
    onFailure: () => {},
  });
  const { secret } = await issueToken(store, { name: 'bench', scopes: ['plants:read'], expiresMs: null }, Date.now());
  await store.close();
  const child = spawn(process.execPath, [launcher, 'serve'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise<string>((resolve) => {
    createInterface(child.stdout).once('line', (line) => resolve(JSON.parse(line).url));
  });
  return { size, port: Number(new URL(url).port), secret, process: child };
}

/** Of pages all over the store. */
async function someCursors(server: Server): Promise<string[]> {
  const found: string[] = [];
  for (let cursor = ''; ; ) {
    const { link } = await read(server, `/plants?limit=500${cursor && `&cursor=${cursor}`}`);
    cursor = /cursor=([\w-]+)>/.exec(link)?.[1] ?? '';
    if (cursor === '') return found;
    found.push(cursor);
  }
}

function read({ port, secret }: Server, path: string): Promise<{ link: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}` };
    get({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode}`));
      response.resume().on('end', () => resolve({ link: String(response.headers.link) }));
    }).on('error', reject);
  });
}

function anyOf(texts: string[]): string {
  return texts[Math.floor(random() * texts.length)] ?? '';
}

function word(at: 0 | 1): string {
  return plantAt(Math.floor(random() * 1600)).name.split(' ')[at] ?? '';
}

function percentile(times: number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}
