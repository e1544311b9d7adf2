// Tests of the access that the route table declares. torture/faults/authorization.test.ts tests its enforcement.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { send } from '../../../testing/request.ts';
import { makeFolder } from '../../../testing/server.ts';
import { startTestService } from '../../../testing/service.ts';
import { createMetrics } from '../../observability/metrics.ts';
import { openStore } from '../../service/open-store.ts';
import { createReceiverClient } from '../../webhooks/receiver-client.ts';
import { createTargetGuard } from '../../webhooks/target-guard.ts';
import type { Access, Route } from '../core/route.ts';
import { TIMEOUTS } from '../core/timeouts.ts';
import { createAllRoutes, requireAccess } from '../routes/all-routes.ts';
import { createSharedLimits } from './shared-limits.ts';

const BASE_PATH = '/store';
const OPEN = [
  'GET /healthz',
  'GET /readyz',
  'GET /openapi.json',
  'GET /',
  'GET ', // redirects from the base path to the console
  'GET /docs',
  'GET /assets/:name',
];

async function readTable(): Promise<Route[]> {
  const path = join(makeFolder(), 'table.db');
  const store = await openStore({ kind: 'sqlite', path }, { role: 'command', observe() {}, onFailure() {} });
  const targetGuard = createTargetGuard({ allowPrivate: false });
  const webhooks = { targetGuard, receiverClient: createReceiverClient(targetGuard, assert.ifError), onChange() {} };
  const stopping = new AbortController().signal;
  const observe = () => {};
  const metrics = createMetrics({ store, readThreads: async () => [], observe, clock: Date.now });
  const options = {
    store,
    basePath: BASE_PATH,
    metrics,
    limits: createSharedLimits(),
    readSummary: store.summary,
    facts: { version: '1.1.0', startedMs: 0, database: { kind: 'sqlite' as const }, jwtRate: null },
    webhooks,
    observe,
    corsOrigins: [],
    loadMcp: () => Promise.reject(new Error('this test calls no route')),
    stopping,
    timeouts: TIMEOUTS,
    clock: Date.now,
  };
  const routes = createAllRoutes(options, () => '/');
  await store.close();
  return routes;
}

const routes = await readTable();

test('only the documented routes need no credentials', () => {
  const open = routes.filter(({ access }) => access === 'open').map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(open.sort(), [...OPEN].sort());
});

/** Routes for any valid credential. MCP tools check their scopes themselves. */
const ANY_TOKEN = ['/tokens/self', '/mcp'];

test('each route requires the documented scope', () => {
  for (const { method, path, access } of routes) {
    if (access === 'open') continue;
    const isPlants = /^\/(plants|events)(\/|$)/.test(path) && path !== '/events/prune';
    const isDelivery = path === '/webhooks/:id/deliveries/:seq';
    const sends = ['POST', 'PATCH'].includes(method) && path.startsWith('/webhooks') && !path.endsWith('/test');
    const ofAdmin: Access = sends || isDelivery ? ['admin', 'plants:read'] : 'admin';
    const wanted: Access = isPlants ? (method === 'GET' ? 'plants:read' : 'plants:write') : ofAdmin;
    assert.deepEqual(access, ANY_TOKEN.includes(path) ? 'any' : wanted, `${method} ${path}`);
  }
});

test('a route without a declared access prevents the start', () => {
  for (const access of [
    undefined,
    '',
    'plants:*',
    'Admin',
    'public',
    'Any',
    [],
    ['any'],
    ['admin', 'open'],
    ['admin', undefined],
  ]) {
    const route = { ...routes[0], access } as unknown as Route;
    assert.throws(() => requireAccess(route), /does not declare a valid access/);
  }
});

test('unknown paths and methods reveal nothing without credentials', async () => {
  const server = await startTestService({ env: { BASE_PATH } });
  for (const path of ['/plants/1/x', '/tokens/x/y', '/webhooks/1/2/3', '/metrics/x', '/events/1', '/plants/%zz']) {
    const answer = await send(server.port, { path: BASE_PATH + path });
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [401, 40101], path);
  }
  for (const method of ['OPTIONS', 'PROPFIND', 'DELETE', 'TRACE']) {
    const answer = await send(server.port, { method, path: `${BASE_PATH}/tokens` });
    assert.equal(answer.status, 401, method);
  }
  await server.stop();
});
