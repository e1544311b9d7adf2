#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong. Compiled code is kept between starts:
// it halves the time to the first answer.

import module from 'node:module';
import { join } from 'node:path';

const NEEDED = 26;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stderr.write(
    `plant-store: needs Node ${NEEDED}, not ${process.version}: "npm ci" brings it, "npm start" uses it\n`,
  );
  process.exit(2);
}
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../node_modules/.cache/plant-store'); // also for the writer's thread
module.enableCompileCache();
await import('../src/main.ts');
