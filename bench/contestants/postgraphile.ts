// PostGraphile: a GraphQL API generated from PostgreSQL tables.

import { join } from 'node:path';
import { freePort } from '../../testing/free-port.ts';
import { install, installedVersion } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, JSON_HEADERS, onPostgres } from './contestant.ts';

const VERSION = '5.1.5';
/** PostGraphile reserves `id`, so the column is `rowId`. 64-bit integers are strings. */
const MUTATION =
  'mutation ($id: BigInt!, $name: String!, $tag: String) {' +
  ' createPlant(input: { plant: { rowId: $id, name: $name, tag: $tag } }) { plant { name tag } } }';
const VARIABLES = '{"id":"{n}","name":"Monstera deliciosa {n}","tag":"tropical"}';

export const postgraphile: Contestant = {
  name: 'postgraphile',
  group: 'peer',
  setup: 'preset Amber on a PostgreSQL table, mutation createPlant, no token',
  survives: 'power cut',
  promise: 'survives a power cut: synchronous commit',
  async start() {
    const packages = await install('postgraphile', { postgraphile: VERSION });
    return onPostgres(async ({ url, query, countRows }) => {
      await query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');
      const cli = join(packages, 'node_modules/postgraphile/dist/cli-run.js');
      const flags = ['-P', 'postgraphile/presets/amber', '-c', url, '-s', 'public', '-n', '127.0.0.1'];
      const server = await startProcess(process.execPath, [cli, ...flags, '-p', String(await freePort())], {
        cwd: packages,
        env: { NODE_ENV: 'production', GRAPHILE_ENV: 'production' },
        address: /(http:\S+)\/graphql/,
      });
      return {
        ...server,
        version: installedVersion(packages, 'postgraphile'),
        create: {
          method: 'POST',
          path: '/graphql',
          headers: JSON_HEADERS,
          body: `{"query":"${MUTATION}","variables":${VARIABLES}}`,
        },
        countPlants: () => countRows('plants'),
      };
    });
  },
};
