// The benchmarks run: a short round of `npm run bench`, the garbage of a create, and the cost of a start.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promotedPerCreate } from '../bench/promoted.ts';
import { isWrkHere } from '../bench/wrk.ts';
import { makeFolder } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
const SHORT = { BENCH_ROUNDS: '1', BENCH_SECONDS: '1', BENCH_ONLY: 'echo,plant-store,plant-store-1-thread' };

test('npm run bench counts as many stored plants as responses, and measures every target', {
  skip: !isWrkHere && 'SKIPPED: wrk is missing',
}, () => {
  const printed = bench();
  assert.match(printed, /^Counted: ([\d,]+) plants .*2xx.*, \1 stored\.$/m);
  assert.match(printed, /^Targets of plant-store\n( .+ \d+\.\d\d +at (least|most) \d+\.\d\d +(met|missed)\n){5}\n/m);
});

test('V8 promotes at most 100 bytes of the garbage of a create', {
  skip: !isWrkHere && 'SKIPPED: wrk is missing',
}, async () => {
  const bytes = await promotedPerCreate(makeFolder(), 10, 10);
  assert.ok(bytes !== undefined && bytes <= 100, `${bytes} bytes`);
});

test('npm run bench -- start measures the CPU time of a start', {
  skip: process.platform !== 'linux' && 'SKIPPED: needs /proc',
}, () => {
  assert.match(bench('start'), /^CPU time +\d+ ms/m);
});

function bench(...args: string[]): string {
  const options = { cwd: ROOT, env: { ...process.env, ...SHORT }, encoding: 'utf8' } as const;
  return execFileSync('npm', ['run', 'bench', '--', ...args], { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
}
