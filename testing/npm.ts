// Installs an npm of another version, and starts a checkout with it as a new user does: with the Node of the machine first
// in PATH, and nothing of this project in the environment.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { plainEnvironment } from '../packaging/plain-environment.ts';
import { atEndOfFile } from './clean-up.ts';
import { makeFolder } from './server.ts';
import { NO_PROFILES } from './setup.ts';

/** The npm of Node 20, which does not link a bundled Node into node_modules/.bin. */
export const NPM_10 = '10.8.2';
const INSTALL_WITHIN_MS = 240_000;

const env = { ...plainEnvironment(), npm_config_prefer_offline: 'true', XDG_CONFIG_HOME: NO_PROFILES };

/** Installs this version of npm. Returns its path, or undefined if the registry cannot be reached. */
export async function installNpm(version: string): Promise<string | undefined> {
  const folder = makeFolder();
  try {
    await execute('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `npm@${version}`], folder);
  } catch (error) {
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(String(error))) return undefined;
    throw error;
  }
  return join(folder, 'node_modules/.bin/npm');
}

/** Runs a command in a folder on the plain machine, and returns its standard output. */
export async function execute(command: string, args: string[], folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { cwd: folder, env, timeout: INSTALL_WITHIN_MS });
  return stdout;
}

/** Runs `npm start` in a checkout, stores a plant, and stops the server by a signal to npm. */
export async function startAndStorePlant(npm: string, folder: string): Promise<void> {
  const server = spawn(npm, ['start'], { cwd: folder, env: { ...env, PORT: '0' }, detached: true });
  atEndOfFile(() => {
    if (server.exitCode === null && server.signalCode === null) process.kill(-Number(server.pid), 'SIGKILL');
  });
  const closed = once(server, 'close'); // when every process with its output has ended
  let printed = '';
  server.stderr.on('data', (chunk) => (printed += chunk));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on('line', (line) => {
      printed += `${line}\n`;
      const [, found] = /"url":"([^"]+)"/.exec(line) ?? [];
      if (found) resolve(found);
    });
    server.on('exit', () => reject(new Error(`npm start ended: ${printed}`)));
  });
  const secret = await execute(join(folder, 'bin/plant-store'), ['token', 'create', '--name', 'me'], folder);
  const response = await fetch(`${url}/plants`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret.trim()}`, 'content-type': 'application/json' },
    body: '{"id":9223372036854775807,"name":"Monstera deliciosa"}',
  });
  assert.equal(await response.text(), '{"name":"Monstera deliciosa"}');
  server.kill('SIGTERM');
  await closed;
  assert.match(printed, /"kind":"stopped"/);
}
