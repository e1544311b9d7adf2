// Directus, a data platform, on PostgreSQL.

import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../testing/free-port.ts';
import { install, installedVersion } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, CREATE, onPostgres, send } from './contestant.ts';

const VERSION = '12.4.0';
/** The required version needs a compiler, this one includes binaries. Only scripts in flows use it. */
const OVERRIDES = { 'isolated-vm': '7.0.1' };
const TOKEN = 'bench-token-of-the-administrator';
const AUTHORIZATION = { Authorization: `Bearer ${TOKEN}` };
const PLANTS = {
  collection: 'plants',
  schema: {},
  meta: {},
  fields: [
    { field: 'id', type: 'bigInteger', schema: { is_primary_key: true } },
    { field: 'name', type: 'text', schema: { is_nullable: false } },
    { field: 'tag', type: 'text' },
  ],
};

export const directus: Contestant = {
  name: 'directus',
  group: 'peer',
  setup: 'defaults on PostgreSQL, no rate limiter; collection plants, static admin token',
  survives: 'power cut',
  promise: 'survives a power cut: synchronous commit, with activity records',
  async start(folder) {
    const packages = await install('directus', { directus: VERSION }, OVERRIDES);
    const cli = join(packages, 'node_modules/directus/cli.js');
    writeFileSync(join(folder, 'package.json'), '{}'); // Directus searches for extensions here
    return onPostgres(async ({ url, countRows }) => {
      const env = {
        NODE_ENV: 'production',
        DB_CLIENT: 'pg',
        DB_CONNECTION_STRING: url,
        SECRET: 'a secret of 32 characters, or so',
        ADMIN_EMAIL: 'bench@example.com',
        ADMIN_PASSWORD: 'bench',
        ADMIN_TOKEN: TOKEN,
        HOST: '127.0.0.1',
        PORT: String(await freePort()),
        PRESSURE_LIMITER_ENABLED: 'false', // otherwise it rejects some requests of 64 connections
        TELEMETRY: 'false',
      };
      await promisify(execFile)(process.execPath, [cli, 'bootstrap'], { cwd: folder, env: { ...process.env, ...env } });
      const address = /Server started at (http\S+)/;
      const server = await startProcess(process.execPath, [cli, 'start'], { cwd: folder, env, address });
      await send(`${server.url}/collections`, AUTHORIZATION, PLANTS);
      return {
        ...server,
        version: installedVersion(packages, 'directus'),
        create: { ...CREATE, path: '/items/plants', headers: { ...CREATE.headers, ...AUTHORIZATION } },
        countPlants: () => countRows('plants'),
      };
    });
  },
};
