// Who is let in: every route there is × every credential that is not good for it, made from the table of routes itself.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { createAttempts } from '../src/attempt.ts';
import { openStore } from '../src/commands/open.ts';
import type { Access, Route } from '../src/http/route.ts';
import { createRoutes, requireAccess } from '../src/http/routes.ts';
import { createMetrics } from '../src/metrics.ts';
import { mintSecret } from '../src/secret.ts';
import { createTargets } from '../src/target.ts';
import { renewSecret, SCOPES, type Scope } from '../src/token.ts';
import { makeDatabase, needsPostgres } from './postgres.ts';
import { type Answer, send } from './request.ts';
import { addToken, besideServer, makeFolder, startServer, type TestServer } from './server.ts';

const BASE_PATH = '/store';
const OPEN = [
  'GET /healthz',
  'GET /readyz',
  'GET /openapi.json',
  'GET /',
  'GET ', // of a base path, which leads there
  'GET /docs',
  'GET /assets/:name',
];
/** Each of them would be answered otherwise if the credential was good. */
const VALUES: Record<string, string> = { ':id': '1', ':seq': '1' };

async function readTable(): Promise<Route[]> {
  const path = join(makeFolder(), 'table.db');
  const store = await openStore({ kind: 'sqlite', path }, { role: 'command', observe() {}, onFailure() {} });
  const targets = createTargets({ allowPrivate: false });
  const webhooks = { targets, attempts: createAttempts(targets), onChange() {} };
  const stopping = new AbortController().signal;
  const metrics = createMetrics(store);
  const mcp = {
    load: () => Promise.reject(new Error('nobody calls a route of a table')),
    corsOrigins: [],
    observe() {},
  };
  const routes = createRoutes({ store, basePath: BASE_PATH, metrics, webhooks, mcp, stopping, clock: Date.now });
  await store.close();
  return routes;
}

const routes = await readTable();
const guarded = routes
  .filter(({ access }) => access !== 'open')
  .flatMap((route) => (route.method === 'GET' ? [route, { ...route, method: 'HEAD' as Route['method'] }] : [route]));

test('the routes without credentials are those that the interface names', () => {
  const open = routes.filter(({ access }) => access === 'open').map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(open.sort(), [...OPEN].sort());
});

/** For what a tool of MCP does it asks itself. */
const ANY_TOKEN = ['/tokens/self', '/mcp'];

test('each route asks for the scope that the interface names', () => {
  for (const { method, path, access } of routes) {
    if (access === 'open') continue;
    const isPlants = /^\/(plants|events)(\/|$)/.test(path);
    const wanted: Access = isPlants ? (method === 'GET' ? 'plants:read' : 'plants:write') : 'admin';
    assert.equal(access, ANY_TOKEN.includes(path) ? 'any' : wanted, `${method} ${path}`);
  }
});

test('a route that does not say who may call it stops the start', () => {
  for (const access of [undefined, '', 'plants:*', 'Admin', 'public', 'Any']) {
    const route = { ...routes[0], access } as unknown as Route;
    assert.throws(() => requireAccess(route), /does not say who may call it/);
  }
});

interface Credential {
  name: string;
  /** Status and number of the error. */
  expected: [status: number, error: number];
  /** What goes into the request for a route that wants this scope. */
  of(scope: Scope): { authorization?: string | string[]; query?: string };
}

for (const [title, databaseOf, needs] of [
  ['SQLite', () => undefined, {}],
  ['PostgreSQL', makeDatabase, needsPostgres],
] as const) {
  suite(`nobody is let in without a good credential, on ${title}`, needs, () => {
    let server: TestServer;
    let admin: string;
    let credentials: Credential[];

    before(async () => {
      const databaseUrl = await databaseOf();
      const env = { BASE_PATH, TRUST_PROXY: 'loopback', JWT_ISSUER: 'http://127.0.0.1:1', JWT_AUDIENCE: 'plants' };
      server = await startServer({ ...(databaseUrl && { databaseUrl }), env });
      admin = (await addToken(server.databaseUrl, { scopes: [...SCOPES] })).secret;
      credentials = await makeCredentials(server, admin);
    });

    test('0 let in, and nothing changed', async () => {
      const stateBefore = await stateOf();
      let count = 0;
      for (const route of guarded) {
        for (const credential of credentials) {
          if (route.access === 'any' && credential.expected[0] === 403) continue; // it asks for no scope
          const name = `${route.method} ${route.path} with ${credential.name}`;
          const answer = await call(route, credential.of(route.access as Scope), `10.0.0.${count % 250}`);
          assert.equal(answer.status, credential.expected[0], `${name}: ${answer.body}`);
          if (route.method !== ('HEAD' as string)) {
            const { error, message } = JSON.parse(answer.body);
            assert.equal(error, credential.expected[1], name);
            assert.equal(typeof message, 'string');
          }
          assert.equal(answer.headers['cache-control'], 'no-store');
          if (credential.expected[0] !== 400)
            assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer realm=/, name);
          count++;
        }
      }
      assert.deepEqual(await stateOf(), stateBefore);
      assert.ok(count > 500, `${count} were tried`);
    });

    test('the same requests with a good credential are let in', async () => {
      for (const route of guarded) {
        const { status } = await call(route, { authorization: `Bearer ${admin}` }, '10.1.0.1');
        assert.ok(status !== 401 && status !== 403, `${route.method} ${route.path}: ${status}`);
      }
    });

    test('paths and methods that nobody has tell a stranger nothing', async () => {
      for (const path of ['/plants/1/x', '/tokens/x/y', '/webhooks/1/2/3', '/metrics/x', '/events/1', '/plants/%zz']) {
        const answer = await send(server.port, { path: BASE_PATH + path });
        assert.deepEqual([answer.status, JSON.parse(answer.body).error], [401, 40101], path);
      }
      for (const method of ['OPTIONS', 'PROPFIND', 'DELETE', 'TRACE']) {
        const answer = await send(server.port, { method, path: `${BASE_PATH}/tokens` });
        assert.equal(answer.status, 401, method);
      }
    });

    async function call(
      { method, path, body }: Route,
      { authorization, query = '' }: ReturnType<Credential['of']>,
      address: string,
    ): Promise<Answer> {
      const filled = path.replace(/:\w+/g, (name) => VALUES[name] ?? 'x');
      return send(server.port, {
        method,
        path: `${BASE_PATH}${filled}${query}`,
        headers: {
          'x-forwarded-for': address,
          ...(authorization && { authorization }),
          ...(body && { 'content-type': body.types[0] ?? '' }),
        },
        ...(body && { body: '{"id":1,"name":"x"}' }),
      });
    }

    async function stateOf(): Promise<unknown> {
      return besideServer(server.databaseUrl, async (store) => [
        (await store.list()).records.length,
        await store.changes(),
        (await store.listTokens()).map(({ id, revokedMs, oldSecretUntilMs }) => [id, revokedMs, oldSecretUntilMs]),
        (await store.listWebhooks()).length,
      ]);
    }
  });
}

async function makeCredentials({ databaseUrl, secret }: TestServer, admin: string): Promise<Credential[]> {
  const all = [...SCOPES];
  const unknown = mintSecret();
  const expired = await addToken(databaseUrl, { scopes: all, expiresMs: Date.now() - 1 });
  const revoked = await addToken(databaseUrl, { scopes: all });
  const replaced = await addToken(databaseUrl, { scopes: all });
  await besideServer(databaseUrl, async (store) => {
    await store.revokeToken(revoked.token.id, Date.now());
    await renewSecret(store, replaced.token.id, Date.now(), 0);
  });
  const lacking = new Map<Scope, string>();
  for (const scope of all) {
    const others = all.filter((other) => other !== scope);
    lacking.set(scope, (await addToken(databaseUrl, { scopes: others })).secret);
  }
  const bearer = (text: string) => () => ({ authorization: `Bearer ${text}` });
  const typo = admin.slice(0, -1) + (admin.endsWith('0') ? '1' : '0');
  const toPart = (text: string) => Buffer.from(text).toString('base64url');
  const claims = toPart('{"sub":"x","scope":"admin plants:read plants:write"}');
  return [
    { name: 'none', expected: [401, 40101], of: () => ({}) },
    { name: 'an empty header', expected: [401, 40101], of: () => ({ authorization: ' ' }) },
    { name: 'another scheme', expected: [401, 40101], of: () => ({ authorization: `Basic ${admin}` }) },
    { name: 'no secret', expected: [401, 40102], of: () => ({ authorization: 'Bearer' }) },
    { name: 'a malformed one', expected: [401, 40102], of: bearer(typo) },
    { name: 'two in one header', expected: [401, 40102], of: bearer(`${admin}, Bearer ${admin}`) },
    { name: 'an unknown one', expected: [401, 40102], of: bearer(unknown) },
    { name: 'an expired one', expected: [401, 40102], of: bearer(expired.secret) },
    { name: 'a revoked one', expected: [401, 40102], of: bearer(revoked.secret) },
    { name: 'one that was replaced', expected: [401, 40102], of: bearer(replaced.secret) },
    { name: 'a JWT without a signature', expected: [401, 40102], of: bearer(`${toPart('{"alg":"none"}')}.${claims}.`) },
    {
      name: 'a JWT whose key nobody knows',
      expected: [401, 40102],
      of: bearer(`${toPart('{"alg":"ES256","kid":"x"}')}.${claims}.${'A'.repeat(86)}`),
    },
    {
      name: 'the wrong scope',
      expected: [403, 40301],
      of: (scope) => ({ authorization: `Bearer ${lacking.get(scope)}` }),
    },
    {
      name: 'one in the query',
      expected: [401, 40101],
      of: () => ({ query: `?access_token=${admin}&token=${admin}` }),
    },
    {
      name: 'a good one twice',
      expected: [400, 40000],
      of: () => ({ authorization: [`Bearer ${admin}`, `Bearer ${admin}`] }),
    },
    {
      name: 'a good one after a bad one',
      expected: [400, 40000],
      of: () => ({ authorization: [`Bearer ${secret}x`, `Bearer ${admin}`] }),
    },
  ];
}
