// What one would write by hand on PostgreSQL.

import { join } from 'node:path';
import { install } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, CREATE, onPostgres, SERVERS } from './contestant.ts';

const VERSION = '5.3.0';

export const expressPostgres: Contestant = {
  name: 'express-postgres',
  group: 'hand-written',
  version: VERSION,
  setup: 'written by hand: Express, pg with a pool of 10, one INSERT for each request, no token',
  promise: 'survives a power cut: synchronous commit',
  async start() {
    const packages = await install('express', { express: VERSION });
    return onPostgres(async ({ url, countRows }) => {
      const server = await startProcess(process.execPath, [join(SERVERS, 'express-postgres.ts')], {
        env: { DATABASE_URL: url, EXPRESS_PACKAGE: join(packages, 'package.json'), NODE_ENV: 'production' },
        address: /^(http.+)$/,
      });
      return {
        ...server,
        create: CREATE,
        countPlants: () => countRows('plants'),
      };
    });
  },
};
