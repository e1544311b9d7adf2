// Measures the CPU time of a start, from the launch to the first stored plant on an empty database.
// Target: under 0.6 s. It reads /proc and therefore runs on Linux only.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addToken } from '../testing/launch.ts';
import { cpuUsOf, hasProc, median, rssMibOf } from './measure.ts';
import { startServer } from './server.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);

if (!hasProc) {
  console.error('This benchmark needs Linux, because it reads /proc');
  process.exit(2);
}
const rounds: { cpuMs: number; wallMs: number; rssMib: number }[] = [];
for (let round = 0; round < ROUNDS; round++) rounds.push(await measure());

console.log(`Start to first 200, empty database: median of ${ROUNDS} (fastest to slowest)\n`);
for (const [name, key, unit] of [
  ['CPU time', 'cpuMs', 'ms'],
  ['wall clock', 'wallMs', 'ms'],
  ['memory', 'rssMib', 'MiB'],
] as const) {
  const values = rounds.map((row) => row[key]);
  const range = `${Math.min(...values)} to ${Math.max(...values)}`;
  console.log(`${name.padEnd(16)}${median(values)} ${unit} (${range})`);
}

async function measure(): Promise<{ cpuMs: number; wallMs: number; rssMib: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`;
  const { secret } = await addToken(databaseUrl);
  const startMs = performance.now();
  const { url, pid, stop } = await startServer(databaseUrl);
  const answer = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: '{"id":1,"name":"Monstera deliciosa"}',
  });
  const wallMs = Math.round(performance.now() - startMs);
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  const cpuMs = Math.round((cpuUsOf(pid) ?? 0) / 1000);
  const rssMib = Math.round(rssMibOf(pid) ?? 0);
  await stop();
  rmSync(folder, { recursive: true });
  return { cpuMs, wallMs, rssMib };
}
