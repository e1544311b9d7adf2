// Uses an installed package on a machine that has only npm: creates a token, starts the server, runs a program with the
// client, opens the console and stops the server.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { plainEnvironment } from './plain-environment.ts';
import { runCommand } from './run-command.ts';

const START_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 12_000;
const NPX = ['exec', '--no', '--', 'plant-store'];

export interface InstalledPackage {
  /** Folder in which the package was installed. */
  folder: string;
  /** Name and version in package.json. */
  name: string;
  version: string;
}

/** Returns a TypeScript program that stores a plant, and reads it, through the client of the package. */
export function clientProgram(name: string): string {
  return `
import { createClient, PlantStoreError, type PlantRecord } from '${name}/client';

const store = createClient({ url: process.argv[2] ?? '', token: process.argv[3] ?? '' });
await store.create({ id: 9007199254740993n, name: 'Monstera deliciosa' });
const records: PlantRecord[] = [];
for await (const record of store.walk({ q: 'mon' })) records.push(record);
const id: bigint | undefined = records[0]?.id;
// @ts-expect-error an id is a bigint
const wrong: number = id;
await store.get(5n).catch((error: PlantStoreError) => console.log(wrong === 5, error instanceof PlantStoreError, error.code, id));
`;
}

/** Uses the package with this Node. Throws if anything differs from what users expect. */
export async function tryPackage({ folder, name, version }: InstalledPackage, node: string): Promise<void> {
  const data = join(folder, 'data');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data);
  const env = { ...plainEnvironment(node), HOME: data, PORT: '0', DATABASE_URL: `sqlite:${data}/plants.db` };
  const run = (command: string, args: string[]) => runCommand(command, args, { cwd: folder, env });
  const first = await run('node', ['--print', 'process.execPath']);
  assert.equal(realpathSync(first.trim()), realpathSync(node), 'npm would run another Node');
  assert.equal(await run('npm', [...NPX, '--version']), `${version}\n`, 'plant-store --version');
  const server = spawn('npm', [...NPX, 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const endServer = () => killGroup(server.pid);
  process.on('exit', endServer);
  try {
    const printed: string[] = [];
    const url = await waitForUrl(server, printed);
    const secret = await run('npm', [...NPX, 'token', 'create', '--name', 'me']);
    assert.match(secret, /^pst_\w{36}\n$/, 'plant-store token create prints no token');
    const token = secret.trim();
    writeFileSync(join(folder, 'program.ts'), clientProgram(name));
    const result = await run(node, ['program.ts', url, token]);
    assert.equal(result, 'false true not_found 9007199254740993n\n', 'the client');
    await checkResponses(url, token);

    const ended = once(server, 'close', { signal: AbortSignal.timeout(STOP_WITHIN_MS) }); // npm and all processes that share its output
    server.kill('SIGTERM');
    await ended;
    assert.match(printed.join('\n'), /"kind":"stopped"/, 'the server did not log that it stopped');
  } finally {
    endServer();
    process.off('exit', endServer);
  }
}

/** Returns the URL that the server logs when it listens. */
async function waitForUrl(server: ChildProcess, printed: string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const timer = setTimeout(() => reject(new Error('The server did not start in time')), START_WITHIN_MS);
  if (server.stdout === null || server.stderr === null) throw new Error('The server has no output');
  createInterface(server.stderr).on('line', (line) => printed.push(line));
  createInterface(server.stdout).on('line', (line) => {
    printed.push(line);
    const found = /"url":"([^"]+)"/.exec(line)?.[1];
    if (found) resolve(found);
  });
  server.once('close', () => reject(new Error(`The server ended: ${printed.join('\n')}`)));
  return promise.finally(() => clearTimeout(timer));
}

/** Checks that the server has the console, and the plant that the program stored. */
async function checkResponses(url: string, token: string): Promise<void> {
  const page = await (await fetch(`${url}/`)).text();
  const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1];
  assert.equal((await fetch(`${url}/${script}`)).status, 200, 'the package does not contain the console');
  const response = await fetch(`${url}/plants/9007199254740993`, { headers: { authorization: `Bearer ${token}` } });
  assert.match(await response.text(), /^\{"id":9007199254740993,"name":"Monstera deliciosa",/, 'the stored plant');
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // the process has already ended
  }
}
