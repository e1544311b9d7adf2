// This server, on both databases.

import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { countSqlite } from '../database.ts';
import { startTokenedServer, toCreate } from '../server.ts';
import { type Contestant, onPostgres, type Running } from './contestant.ts';

const { version } = packageJson;

export const plantStore: Contestant = {
  name: 'plant-store',
  group: 'ours',
  version,
  setup: 'as npm start runs it, on SQLite, with a bearer token',
  promise: 'survives a power cut: fsync before the response',
  async start(folder) {
    const path = join(folder, 'plants.db');
    return {
      ...(await startOurs(`sqlite:${path}`)),
      countPlants: async () => countSqlite(path),
    };
  },
};

export const plantStorePostgres: Contestant = {
  name: 'plant-store-postgres',
  group: 'ours',
  version,
  setup: 'the same with DATABASE_URL=postgres://…',
  promise: 'survives a power cut: synchronous commit before the response',
  start: () =>
    onPostgres(async ({ url, countRows }) => ({
      ...(await startOurs(url)),
      countPlants: () => countRows('plants'),
    })),
};

async function startOurs(databaseUrl: string): Promise<Running> {
  const server = await startTokenedServer(databaseUrl);
  const get = { method: 'GET' as const, path: '/plants/{n}', headers: { Authorization: `Bearer ${server.secret}` } };
  return { ...server, create: toCreate(server.secret), get };
}
