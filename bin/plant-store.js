#!/usr/bin/env node
// Launcher: runs src in a checkout and dist in a package. It is plain JavaScript, so that an old Node prints the error.
// It enables the compile cache, which halves the time to the first response, and limits the memory of a server.

import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';

/** The first Node 24 with SQLite 3.51.3, which fixes a corruption of a WAL that is being reset. */
const PACKAGE_NEEDS = [24, 15];

/**
 * The semi-space of the main thread: a larger one saves no time, and an export needs up to 60 MiB more memory. Its full size
 * from the start saves collections while code is loaded. V8 has these flags for a new process only.
 */
const SERVER_FLAGS = ['--min-semi-space-size=8', '--max-semi-space-size=8'];

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isCheckout = existsSync(join(root, 'src/main.ts'));

if (isCheckout) await import('./own-node.js');
else if (isOlderThan(PACKAGE_NEEDS)) {
  process.stderr.write(
    `plant-store: Node ${PACKAGE_NEEDS.join('.')} or newer is required, not ${process.version}. Install it from https://nodejs.org.\n`,
  );
  process.exit(2);
}

// A parent with a channel to this process would lose it, and Node's permission model forbids new processes.
const mayReplace = process.platform !== 'win32' && !process.channel && !process.permission;
if (process.argv[2] === 'serve' && mayReplace) {
  if (!SERVER_FLAGS.every((flag) => process.execArgv.includes(flag))) {
    process.execve(process.execPath, [
      process.execPath,
      ...SERVER_FLAGS,
      ...process.execArgv,
      ...process.argv.slice(1),
    ]);
  }
  for (const flag of SERVER_FLAGS) setFlagsFromString(flag.replace('8', '0')); // other threads have limits of their own
}
const cache =
  process.env.NODE_COMPILE_CACHE ?? (isCheckout ? join(root, 'node_modules/.cache/plant-store') : userCache());
if (cache) {
  process.env.NODE_COMPILE_CACHE = cache; // the other threads read it
  module.enableCompileCache(); // has no effect if the folder is not writable
}
process.env.UV_THREADPOOL_SIZE ??= '32'; // libuv uses half of them for DNS lookups, which can be very slow
await import(pathToFileURL(join(root, isCheckout ? 'src/main.ts' : 'dist/main.js')).href);

function isOlderThan([major, minor]) {
  const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}

/** Returns a folder that only this user can write, because cached code is executed. systemd sets CACHE_DIRECTORY. */
function userCache() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME, LOCALAPPDATA, HOME } = process.env;
  const caches = CACHE_DIRECTORY || XDG_CACHE_HOME || LOCALAPPDATA || (HOME && join(HOME, '.cache'));
  return caches && join(caches, 'plant-store');
}
