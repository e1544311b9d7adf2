// Every operation in a running server's description, as a valid request: the objects it refers to exist, and its body
// is valid.

import assert from 'node:assert/strict';
import type { Scope } from '../../src/domain/names.ts';
import { readDescription } from '../../testing/description.ts';
import { callerOf } from '../../testing/request.ts';
import { addToken, besideServer, type TestServer } from '../../testing/server.ts';

export interface Operation {
  method: string;
  /** Path with the base path and all parameters. */
  path: string;
  /** Required scopes. Empty if any token is sufficient. */
  scopes: Scope[];
  type?: string | undefined;
  body?: string | undefined;
}

const WEBHOOK_ID = 'whk_000000000000';
/** The server never connects to this address, since it is neither public nor allowed. */
const WEBHOOK = {
  id: WEBHOOK_ID,
  url: 'https://127.0.0.1:1/',
  events: ['plant.created'],
  secret: 'whsec_AAAA',
} as const;
const PLANT = '{"id":2,"name":"x"}';
const BODIES: Record<string, string> = {
  '/events/prune': '{"olderThan":"90d"}',
  '/tokens': '{"name":"x","scopes":["admin"]}',
  '/webhooks': JSON.stringify({ url: WEBHOOK.url }),
  '/webhooks/{id}': '{"name":"x"}',
  '/webhooks/{id}/replay': '{"from":1}',
};
/** MCP has its own description of its operations. */
const UNDESCRIBED: Described = { method: 'post', path: '/mcp', type: 'application/json', isForAny: true };

interface Described {
  method: string;
  path: string;
  type: string | undefined;
  isForAny: boolean;
}

/** Returns the operations that require a token, with a HEAD for each GET. */
export async function listOperations(
  server: Pick<TestServer, 'port' | 'databaseUrl' | 'secret'>,
  basePath = '',
): Promise<Operation[]> {
  const ids = await makeWhatTheyNeed(server, basePath);
  const { paths } = await readDescription(server.port, basePath);
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security.length > 0)
      .map(([method, { requestBody, responses }]) => {
        const [type] = Object.keys(requestBody?.content ?? {});
        return { method, path, type, isForAny: !('403' in responses) };
      }),
  );
  assert.ok(described.length > 20, `${described.length} operations are described`);
  const all = [...described, UNDESCRIBED].map(fill);
  return all.flatMap((one) => (one.method === 'GET' ? [one, { ...one, method: 'HEAD' }] : [one]));

  function fill({ method, path, type, isForAny }: Described): Operation {
    const filled = path.replace('{id}', ids[path.split('/')[1] ?? ''] ?? 'x').replace('{seq}', '1');
    assert.doesNotMatch(filled, /\{/, 'a parameter has no value');
    return {
      method: method.toUpperCase(),
      path: basePath + filled,
      scopes: isForAny ? [] : scopesOf(method, path),
      ...(type !== undefined && { type, body: BODIES[path] ?? PLANT }),
    };
  }
}

/** Returns the scopes that the API requires for an operation. */
function scopesOf(method: string, path: string): Scope[] {
  if (path === '/events/prune') return ['admin'];
  if (/^\/(plants|events)(\/|$)/.test(path)) return [method === 'get' ? 'plants:read' : 'plants:write'];
  const hasPlantsSent = /^(post|patch)$/.test(method) && path.startsWith('/webhooks') && !path.endsWith('/test');
  const showsPlants = path === '/webhooks/{id}/deliveries/{seq}';
  return hasPlantsSent || showsPlants ? ['admin', 'plants:read'] : ['admin'];
}

/** Creates the objects, and returns their ids by the first part of the path. */
async function makeWhatTheyNeed(
  server: Pick<TestServer, 'port' | 'databaseUrl' | 'secret'>,
  basePath: string,
): Promise<Record<string, string>> {
  const { status } = await callerOf(server, server.secret)('PUT', `${basePath}/plants/1`, '{"name":"x"}');
  assert.equal(status, 200);
  const { token } = await addToken(server.databaseUrl, { name: 'victim' });
  await besideServer(server.databaseUrl, (store) =>
    store.addWebhook({ ...WEBHOOK, events: [...WEBHOOK.events], createdMs: Date.now() }),
  );
  return { plants: '1', tokens: token.id, webhooks: WEBHOOK_ID };
}
