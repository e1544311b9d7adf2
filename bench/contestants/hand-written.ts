// Hand-written servers: the floor, which is the cost of HTTP and JSON alone on Node, and typical implementations.

import { join } from 'node:path';
import { countSqlite, NODE_SQLITE } from '../database.ts';
import { install, installedVersion } from '../install.ts';
import { type BenchServer, startProcess } from '../server.ts';
import { type Contestant, CREATE, onPostgres } from './contestant.ts';

const EXPRESS_VERSION = '5.3.0';
const ROOT = join(import.meta.dirname, '../..');

export const echo: Contestant = {
  name: 'echo',
  group: 'floor',
  setup: 'plain node:http that parses the body and returns it, no token: the floor',
  survives: 'nothing',
  promise: 'nothing is stored',
  async start() {
    const get = { method: 'GET' as const, path: '/plants/{n}', headers: {} };
    return { ...(await startScript('echo.ts')), version: process.version, create: CREATE, get };
  },
};

export const fastifySqlite: Contestant = {
  name: 'fastify-sqlite',
  group: 'hand-written',
  setup: 'hand-written: Fastify with a JSON schema, one INSERT per request, no token',
  survives: 'power cut',
  promise: 'survives a power cut: WAL, synchronous=FULL',
  async start(folder) {
    const path = join(folder, 'plants.db');
    const server = await startScript('fastify-sqlite.ts', { DATABASE_PATH: path });
    return {
      ...server,
      version: installedVersion(ROOT, 'fastify'),
      database: NODE_SQLITE,
      create: CREATE,
      countPlants: async () => countSqlite(path),
    };
  },
};

export const expressPostgres: Contestant = {
  name: 'express-postgres',
  group: 'hand-written',
  setup: 'hand-written: Express, pg with a pool of 10, one INSERT per request, no token',
  survives: 'power cut',
  promise: 'survives a power cut: synchronous commit',
  async start() {
    const packages = await install('express', { express: EXPRESS_VERSION });
    const env = { EXPRESS_PACKAGE: join(packages, 'package.json'), NODE_ENV: 'production' };
    return onPostgres(async ({ url, countRows }) => {
      const server = await startScript('express-postgres.ts', { ...env, DATABASE_URL: url });
      return {
        ...server,
        version: installedVersion(packages, 'express'),
        create: CREATE,
        countPlants: () => countRows('plants'),
      };
    });
  },
};

function startScript(name: string, env: Record<string, string> = {}): Promise<BenchServer> {
  const script = join(import.meta.dirname, 'servers', name);
  return startProcess(process.execPath, [script], { env, address: /^(http.+)$/ });
}
