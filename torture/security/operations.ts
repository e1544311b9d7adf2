// What the description of a running server names, each operation as a request that would be taken: what it is about is
// there, and its body is sound.

import assert from 'node:assert/strict';
import type { Scope } from '../../src/domain/names.ts';
import { readDescription } from '../../testing/description.ts';
import { callerOf } from '../../testing/request.ts';
import { addToken, besideServer, type TestServer } from '../../testing/server.ts';

export interface Operation {
  method: string;
  /** With the base path, and its parameters filled in. */
  path: string;
  /** Those that it needs: none where any token will do. */
  scopes: Scope[];
  type?: string | undefined;
  body?: string | undefined;
}

const WEBHOOK_ID = 'whk_000000000000';
/** Nobody connects there: it is neither public nor allowed. */
const WEBHOOK = {
  id: WEBHOOK_ID,
  url: 'https://127.0.0.1:1/',
  events: ['plant.created'],
  secret: 'whsec_AAAA',
} as const;
const PLANT = '{"id":2,"name":"x"}';
const BODIES: Record<string, string> = {
  '/tokens': '{"name":"x","scopes":["admin"]}',
  '/webhooks': JSON.stringify({ url: WEBHOOK.url }),
  '/webhooks/{id}/replay': '{"from":1}',
};
/** Assistants have descriptions of their own. */
const UNDESCRIBED: Described = { method: 'post', path: '/mcp', type: 'application/json', isForAny: true };

interface Described {
  method: string;
  path: string;
  type: string | undefined;
  isForAny: boolean;
}

/** Those that ask for a token; where there is a GET, there is a HEAD. */
export async function listOperations(
  server: Pick<TestServer, 'port' | 'databaseUrl' | 'secret'>,
  basePath = '',
): Promise<Operation[]> {
  const ids = await makeWhatTheyNeed(server, basePath);
  const { paths } = await readDescription(server.port, basePath);
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { security }]) => security === undefined)
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
    assert.doesNotMatch(filled, /\{/, 'a parameter that has no value yet');
    return {
      method: method.toUpperCase(),
      path: basePath + filled,
      scopes: isForAny ? [] : scopesOf(method, path),
      ...(type !== undefined && { type, body: BODIES[path] ?? PLANT }),
    };
  }
}

/** As the interface has it. */
function scopesOf(method: string, path: string): Scope[] {
  if (/^\/(plants|events)(\/|$)/.test(path)) return [method === 'get' ? 'plants:read' : 'plants:write'];
  const hasPlantsSent = method === 'post' && path.startsWith('/webhooks') && !path.endsWith('/test');
  return hasPlantsSent ? ['admin', 'plants:read'] : ['admin'];
}

/** Ids by the first part of the path. */
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
