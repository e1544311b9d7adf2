// plant-store import of 1 million NDJSON lines against `sqlite3 .import` of the same plants as CSV into one plain table.
// Target: at least 0.5 of its rate, with less than 256 MiB of memory.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peakMibOf } from './measure.ts';
import { toCsv, toNdjson, writePlants } from './plants.ts';
import { FLAGS, LAUNCHER } from './server.ts';

const LINES = Number(process.env.BENCH_PLANTS ?? 1_000_000);
const ROUNDS = 3;

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
await writePlants(join(folder, 'plants.ndjson'), LINES, toNdjson);
await writePlants(join(folder, 'plants.csv'), LINES, toCsv, 'id,name,tag\n');

const ours: number[] = [];
const theirs: number[] = [];
let mostMib = 0;
const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0;
for (let round = 0; round < ROUNDS; round++) {
  ours.push(await measureOurs(round));
  if (hasSqlite) theirs.push(measureTheirs(round));
}
const [own, other] = [Math.min(...ours), Math.min(...theirs)];
console.log(`Import of ${LINES.toLocaleString('en')} plants, best of ${ROUNDS}\n`);
console.log(
  `plant-store import   ${(own / 1000).toFixed(2)} s, ${Math.round(LINES / own).toLocaleString('en')} k/s, ${Math.round(mostMib)} MiB`,
);
if (hasSqlite) {
  console.log(
    `sqlite3 .import      ${(other / 1000).toFixed(2)} s, ${Math.round(LINES / other).toLocaleString('en')} k/s`,
  );
  console.log(`ratio of the rates   ${(other / own).toFixed(2)} (target: at least 0.50)`);
} else console.log('sqlite3 is not installed: nothing to compare with');

async function measureOurs(round: number): Promise<number> {
  const startMs = performance.now();
  const child = spawn(process.execPath, [...FLAGS, LAUNCHER, 'import', join(folder, 'plants.ndjson')], {
    env: { PATH: process.env.PATH, DATABASE_URL: `sqlite:${folder}/${round}.db` },
    stdio: 'ignore',
  });
  const timer = setInterval(() => {
    mostMib = Math.max(mostMib, peakMibOf(child.pid ?? 0) ?? 0);
  }, 50);
  const [status] = await once(child, 'exit');
  clearInterval(timer);
  if (status !== 0) throw new Error(`It ended with ${status}`);
  return performance.now() - startMs;
}

function measureTheirs(round: number): number {
  const path = join(folder, `${round}.sqlite3.db`);
  const sqlite = (...args: string[]) => spawnSync('sqlite3', [path, ...args], { stdio: 'inherit' });
  sqlite('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  const startMs = performance.now();
  sqlite('.mode csv', `.import --skip 1 ${join(folder, 'plants.csv')} plants`);
  return performance.now() - startMs;
}
