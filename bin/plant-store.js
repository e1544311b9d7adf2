#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong. Compiled code is kept between starts:
// it halves the time to the first answer.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

const NEEDED = 26;
const packages = join(import.meta.dirname, '../node_modules');

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  refuse(`needs Node ${NEEDED}, not ${process.version}: "npm ci" brings it, "npm start" uses it`);
}
if (!existsSync(packages)) refuse('not installed yet: run "npm ci" first');

process.env.NODE_COMPILE_CACHE ??= join(packages, '.cache/plant-store'); // also for the writer's thread
module.enableCompileCache();
process.env.UV_THREADPOOL_SIZE ??= '32'; // half of these look up names, and some names take very long
await import('../src/main.ts');

function refuse(message) {
  process.stderr.write(`plant-store: ${message}\n`);
  process.exit(2);
}
