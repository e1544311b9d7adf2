// Runs the tests: the quick ones with the checks of format, lint and types beside them (`npm test`), with --long the
// others (`npm run test:long`), or only the given files (`npm test -- FILE`). CONTRIBUTING.md says which are which.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statfsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { globalSetup, globalTeardown } from './setup.ts';
import { groupNames, longTests } from './test-files.ts';

const ROOT = join(import.meta.dirname, '..');
/** One checker needs the least CPU time in total, which the tests need as well. */
const TYPES = 'tsc --checkers 1';
const CHECKS = ['biome ci', TYPES, `${TYPES} -p console`, 'textlint *.md docs/**/*.md'];
const TEST_TIMEOUT_MS = 150_000;
const CONCURRENCY = 4;
const LONG_CONCURRENCY = 2;
const MEMORY = '/dev/shm';
const MEMORY_BYTES = 3 * 2 ** 30;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1)); // also ends PostgreSQL
const chosen = process.argv.slice(2).filter((argument) => argument !== '--long');
const isLong = process.argv.includes('--long') || chosen.some((file) => file.endsWith('.long.test.ts'));
if (!isLong) keepFilesInMemory();
if (!isLong) process.env.THREADS ??= '1'; // servers start faster; the long tests run with the default
const checks = isLong || chosen.length > 0 ? [] : CHECKS.map(check);
await globalSetup();
const tests = runTests(chooseTests(), isLong ? LONG_CONCURRENCY : CONCURRENCY);
const failed = (await Promise.all([...checks, tests])).filter((name) => name !== undefined);
await globalTeardown();
if (failed.length > 0) {
  console.log(`Failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

/** Keeps the files of quick tests in memory, because each commit would wait for the disk. */
function keepFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return;
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize > MEMORY_BYTES) process.env.TMPDIR = MEMORY;
}

/** Returns 'tests' if any failed. */
async function runTests(files: string[], concurrency: number): Promise<string | undefined> {
  let failed: string | undefined;
  const paths = files.map((file) => resolve(ROOT, file));
  const report = run({ files: paths, concurrency, execArgv: [`--test-timeout=${TEST_TIMEOUT_MS}`] })
    .on('test:fail', () => {
      failed = 'tests';
    })
    .compose(spec);
  report.pipe(process.stdout);
  await finished(report);
  return failed;
}

function chooseTests(): string[] {
  if (chosen.length > 0) return chosen;
  return isLong ? longTests() : groupNames().map((name) => `testing/groups/${name}.ts`);
}

/** Runs a command and prints its output at the end. Returns its name if it failed. */
async function check(command: string): Promise<string | undefined> {
  const [name = '', ...args] = command.split(' ');
  const path = join(ROOT, 'node_modules/.bin', name);
  const child = spawn(path, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')]);
  process.stdout.write(`${stdout.join('')}${stderr.join('')}`);
  return child.exitCode === 0 ? undefined : command;
}
