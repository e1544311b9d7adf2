// This server, on both databases, and with one HTTP thread.

import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { countSqlite, NODE_SQLITE } from '../database.ts';
import { startTokenedServer, toCreate } from '../server.ts';
import { type Contestant, onPostgres, type Running } from './contestant.ts';

export const plantStore: Contestant = {
  name: 'plant-store',
  group: 'ours',
  setup: 'as npm start runs it, on SQLite, with a bearer token',
  survives: 'power cut',
  promise: 'survives a power cut: WAL, synchronous=FULL, group commit',
  start: (folder) => startOnSqlite(folder),
};

export const plantStoreOneThread: Contestant = {
  ...plantStore,
  name: 'plant-store-1-thread',
  setup: 'as npm start runs it with THREADS=1, on SQLite, with a bearer token',
  start: (folder) => startOnSqlite(folder, { THREADS: '1' }),
};

export const plantStorePostgres: Contestant = {
  ...plantStore,
  name: 'plant-store-postgres',
  setup: 'as npm start runs it, with DATABASE_URL=postgres://… and a bearer token',
  promise: 'survives a power cut: synchronous commit before the response',
  start: () =>
    onPostgres(async ({ url, countRows }) => ({
      ...(await startOurs(url)),
      countPlants: () => countRows('plants'),
    })),
};

async function startOnSqlite(folder: string, env: Record<string, string> = {}): Promise<Running> {
  const path = join(folder, 'plants.db');
  return {
    ...(await startOurs(`sqlite:${path}`, env)),
    database: NODE_SQLITE,
    countPlants: async () => countSqlite(path),
  };
}

async function startOurs(databaseUrl: string, env: Record<string, string> = {}): Promise<Running> {
  const server = await startTokenedServer(databaseUrl, env);
  const get = { method: 'GET' as const, path: '/plants/{n}', headers: { Authorization: `Bearer ${server.secret}` } };
  return { ...server, version: packageJson.version, create: toCreate(server.secret), get };
}
