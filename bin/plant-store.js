#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong. Starts src in a checkout and dist in a package.
// Compiled code is kept between starts: it halves the time to the first answer.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The first 24 whose SQLite cannot corrupt a log that is being reset (3.51.3). */
const PACKAGE_NEEDS = [24, 15];
/** Runs TypeScript as it is. */
const CHECKOUT_NEEDS = [26, 0];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isCheckout = existsSync(join(root, 'src/main.ts'));

if (isCheckout) {
  if (isOlderThan(CHECKOUT_NEEDS)) {
    refuse(`needs Node 26, not ${process.version}: "npm ci" brings it, "npm start" uses it`);
  }
  if (!existsSync(join(root, 'node_modules'))) refuse('not installed yet: run "npm ci" first');
} else if (isOlderThan(PACKAGE_NEEDS)) {
  refuse(
    `needs Node ${PACKAGE_NEEDS.join('.')} or newer, not ${process.version}: install one from https://nodejs.org, or run "npx -p node@24 -p plant-store plant-store"`,
  );
}

const cache =
  process.env.NODE_COMPILE_CACHE ?? (isCheckout ? join(root, 'node_modules/.cache/plant-store') : userCache());
if (cache) {
  process.env.NODE_COMPILE_CACHE = cache; // also for the writer's thread
  module.enableCompileCache(); // where nothing can be written, it does without
}
process.env.UV_THREADPOOL_SIZE ??= '32'; // half of these look up names, and some names take very long
await import(pathToFileURL(join(root, isCheckout ? 'src/main.ts' : 'dist/main.js')).href);

function isOlderThan([major, minor]) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

/** Of this user alone: who can write there decides what is run. CACHE_DIRECTORY is systemd's. */
function userCache() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
  const caches = CACHE_DIRECTORY || XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, '.cache'));
  return caches && join(caches, 'plant-store');
}

function refuse(message) {
  process.stderr.write(`plant-store: ${message}\n`);
  process.exit(2);
}
