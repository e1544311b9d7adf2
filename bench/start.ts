// How much processor time a start costs, from nothing to the first stored plant on an empty database.
// Target: under 0.6 s. Reads /proc, so it runs on Linux only.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openSqliteStore } from '../src/sqlite/store.ts';
import { issueToken } from '../src/token.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const TICKS_PER_SECOND = 100;
const launcher = join(import.meta.dirname, '../bin/plant-store.js');

if (process.platform !== 'linux') {
  console.error('bench/start.ts reads /proc, which only Linux has');
  process.exit(2);
}
const rounds: { cpuMs: number; wallMs: number; rssMib: number }[] = [];
for (let round = 0; round < ROUNDS; round++) rounds.push(await measure());

console.log(`Start to first 200, empty database: median of ${ROUNDS} (fastest to slowest)\n`);
for (const [name, key, unit] of [
  ['processor time', 'cpuMs', 'ms'],
  ['wall clock', 'wallMs', 'ms'],
  ['memory', 'rssMib', 'MiB'],
] as const) {
  const values = rounds.map((row) => row[key]).sort((a, b) => a - b);
  console.log(`${name.padEnd(16)}${values[Math.floor(ROUNDS / 2)]} ${unit} (${values[0]} to ${values.at(-1)})`);
}

async function measure(): Promise<{ cpuMs: number; wallMs: number; rssMib: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
  const path = join(folder, 'plants.db');
  const secret = await makeToken(path);
  const startMs = performance.now();
  const server = spawn(process.execPath, [launcher, 'serve'], {
    env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    createInterface(server.stdout).once('line', (line) => resolve(JSON.parse(line).url));
  });
  const answer = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{"id":1,"name":"Monstera deliciosa"}',
  });
  const wallMs = Math.round(performance.now() - startMs);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const rssKib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]);
  server.kill('SIGTERM');
  await new Promise((resolve) => server.on('exit', resolve));
  rmSync(folder, { recursive: true });
  const cpuMs = ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
  return { cpuMs, wallMs, rssMib: Math.round(rssKib / 1024) };
}

async function makeToken(path: string): Promise<string> {
  const store = await openSqliteStore({ path, role: 'command', observe: () => {}, onFailure: () => {} });
  const { secret } = await issueToken(store, { name: 'bench', scopes: ['plants:write'], expiresMs: null }, Date.now());
  await store.close();
  return secret;
}
