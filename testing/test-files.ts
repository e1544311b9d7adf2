// The test files of the project, by how they are run. Paths are relative to the root of the project.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const QUICK_TESTS = '{src,test,testing,console}/**/*.test.ts';
const LONG_TESTS = ['{src,test,testing,console}/**/*.long.test.ts', 'torture/**/*.test.ts'];
const USES_BROWSER = /\/shared-browser\.ts'/;
/** Modules with which a test starts a server, a database or a command. */
const STARTS_SOMETHING = /'\.[./]*\/(?:testing\/)?(?:command-line|pgbouncer|postgres|server|service)\.ts'/;

/** Returns the tests of `npm run test:long`. */
export function longTests(): string[] {
  return find(LONG_TESTS);
}

/** Returns the tests of `npm test`, in the groups that share a process (`alone`: a process for each file). */
export function quickTests(): { unit: string[]; browser: string[]; alone: string[] } {
  const groups = { unit: [] as string[], browser: [] as string[], alone: [] as string[] };
  for (const file of find([QUICK_TESTS]).filter((path) => !path.endsWith('.long.test.ts'))) {
    const text = readFileSync(join(ROOT, file), 'utf8');
    if (USES_BROWSER.test(text)) groups.browser.push(file);
    else if (STARTS_SOMETHING.test(text)) groups.alone.push(file);
    else groups.unit.push(file);
  }
  return groups;
}

function find(patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).sort();
}
