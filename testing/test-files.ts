// The test files of the project, by how they are run. Paths are relative to the root of the project.

import { globSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const QUICK_TESTS = '{src,test,testing,console}/**/*.test.ts';
const LONG_TESTS = ['{src,test,testing,console}/**/*.long.test.ts', 'torture/**/*.test.ts'];

/** The groups of quick tests, the slowest first. A file belongs to the first group that has it. */
const GROUPS = {
  browser: '{console/test/**,src/client/browser.test.ts,src/http/core/cors.test.ts}',
  http: 'src/http/**',
  cli: 'src/cli/**',
  project: '{console,test,testing}/**',
  storage: 'src/storage/**',
  webhooks: 'src/webhooks/**',
  others: '**',
};

export type Group = keyof typeof GROUPS;

/** Returns the tests of `npm run test:long`. */
export function longTests(): string[] {
  return find(LONG_TESTS);
}

/** Returns the tests of `npm test`. */
export function quickTests(): Record<Group, string[]> {
  const tests = find([QUICK_TESTS]).filter((path) => !path.endsWith('.long.test.ts'));
  const groupOf = (path: string) => groupNames().find((name) => matchesGlob(path, GROUPS[name]));
  return Object.groupBy(tests, groupOf as (path: string) => Group) as Record<Group, string[]>;
}

export function groupNames(): Group[] {
  return Object.keys(GROUPS) as Group[];
}

function find(patterns: string[]): string[] {
  return globSync(patterns, { cwd: ROOT }).sort();
}
