// Compares plant-store import of 1 million NDJSON lines with `sqlite3 .import` of the same plants as CSV into a plain
// table. Target: at least 0.5 of its rate, with less than 256 MiB of memory.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { importByCommand } from './growth-transfer.ts';
import { toCsv, toNdjson, writePlants } from './plants.ts';
import { makeBenchFolder } from './server.ts';

const LINES = Number(process.env.BENCH_PLANTS ?? 1_000_000);
const ROUNDS = 3;

const folder = makeBenchFolder();
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
} else console.log('sqlite3 is missing, so the comparison is skipped: run apt-get install sqlite3');

async function measureOurs(round: number): Promise<number> {
  const file = { path: join(folder, 'plants.ndjson'), records: LINES };
  const { perSecond, peakMib } = await importByCommand(`${folder}/${round}.db`, file);
  mostMib = Math.max(mostMib, peakMib);
  return (1000 * LINES) / perSecond;
}

function measureTheirs(round: number): number {
  const path = join(folder, `${round}.sqlite3.db`);
  const sqlite = (...args: string[]) => spawnSync('sqlite3', [path, ...args], { stdio: 'inherit' });
  sqlite('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  const startMs = performance.now();
  sqlite('.mode csv', `.import --skip 1 ${join(folder, 'plants.csv')} plants`);
  return performance.now() - startMs;
}
