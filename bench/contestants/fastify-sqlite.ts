// What one would write by hand on SQLite.

import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { countSqlite } from '../database.ts';
import { startProcess } from '../server.ts';
import { type Contestant, CREATE, SERVERS } from './contestant.ts';

export const fastifySqlite: Contestant = {
  name: 'fastify-sqlite',
  group: 'hand-written',
  version: packageJson.devDependencies.fastify,
  setup: 'written by hand: Fastify with a JSON schema, one INSERT for each request, no token',
  promise: 'survives a power cut: WAL, synchronous=FULL',
  async start(folder) {
    const path = join(folder, 'plants.db');
    const server = await startProcess(process.execPath, [join(SERVERS, 'fastify-sqlite.ts')], {
      env: { DATABASE_PATH: path },
      address: /^(http.+)$/,
    });
    return {
      ...server,
      create: CREATE,
      countPlants: async () => countSqlite(path),
    };
  },
};
