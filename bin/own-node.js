// Makes sure that a checkout runs on the Node that "npm ci" installs into it. Every script of package.json loads this file first.
// If an older Node runs it, it starts the process again on the installed one, by path: npm before 11.4 does not link that Node
// into node_modules/.bin, and a terminal or cron does not look there. It is plain JavaScript, so that an old Node can run it.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { isatty } from 'node:tty';
import { fileURLToPath } from 'node:url';

/** The first Node that this project uses to run TypeScript directly. */
const NEEDED = 26;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
const PARENT_CHECK_MS = 500;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
if (!existsSync(join(root, 'node_modules'))) refuse('The dependencies are not installed. Run "npm ci" first.');
if (Number.parseInt(process.versions.node, 10) < NEEDED) await startAgain(findInstalledNode());

/** Returns the path of the Node for this machine, a package that the workspace packaging/node requires. */
function findInstalledNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'packaging/node/package.json'), 'utf8'));
  const machine = `${process.platform}-${process.arch}`.replace('win32', 'win');
  const name = Object.keys(optionalDependencies).find((each) => each.endsWith(`-${machine}`));
  const required = `Node ${NEEDED} or newer is required, not ${process.version}`;
  if (!name) refuse(`${required}. "npm ci" has none for ${machine}. Install it from https://nodejs.org.`);
  const path = join(root, 'node_modules', name, process.platform === 'win32' ? 'bin/node.exe' : 'bin/node');
  if (existsSync(path)) return path;
  return refuse(`${required}. "npm ci --include=optional" installs it into this folder: ${root}`);
}

/** Runs the same command on another Node, and ends as it does. Programs that it starts find this Node in PATH. */
function startAgain(node) {
  process.env.PATH = [dirname(node), process.env.PATH].filter(Boolean).join(delimiter);
  const isFromNpm = process.env.npm_lifecycle_event !== undefined;
  process.env.npm_lifecycle_event ??= 'node'; // a server then ends if this process is killed, as it does with npm
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  child.on('error', ({ message }) => refuse(`Cannot start the Node of the checkout: ${message}`));
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  const terminals = [0, 1, 2].filter((output) => isatty(output));
  child.on('close', (status, signal) => {
    const isTerminalGone = terminals.some((output) => !isatty(output)); // an old Node would crash in process.exit()
    const ending = isTerminalGone ? 'SIGHUP' : signal;
    if (!ending) process.exit(status);
    process.removeAllListeners(ending);
    process.kill(process.pid, ending);
  });
  const parent = process.ppid;
  const hasEnded = () => process.ppid !== parent && process.exit(); // the server detects this in turn, and stops
  if (isFromNpm) setInterval(hasEnded, PARENT_CHECK_MS);
  return new Promise(() => {}); // the old Node runs nothing else
}

function refuse(message) {
  process.stderr.write(`plant-store: ${message}\n`);
  process.exit(2);
}
