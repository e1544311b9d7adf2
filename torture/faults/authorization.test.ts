// Calls every operation of the description with every insufficient credential, on both databases. The target objects
// exist and the bodies are valid, so an authorized request would change something.

import assert from 'node:assert/strict';
import { startIdentityProvider } from '../../testing/identity-provider.ts';
import { isPostgresHere, makeDatabase } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { type Answer, callerOf, send } from '../../testing/request.ts';
import { addAdmin, addToken, besideServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { type Credential, makeCredentials, type Sendable } from '../security/bad-credentials.ts';
import { listOperations, type Operation } from '../security/operations.ts';

const BASE_PATH = '/store';

fault({
  name: 'authorization',
  mark: 'The server rejects every request, and nothing changes.',
  rounds: { short: 1, full: 10, of: 'passes over every operation and insufficient credential, on both databases' },
  async trial({ rounds, random, isFull, startServer }) {
    let tried = 0;
    let operations: Operation[] = [];
    let credentials: Credential[] = [];
    for (const databaseUrl of [undefined, isPostgresHere() ? await makeDatabase() : []].flat()) {
      const provider = await startIdentityProvider();
      const jwt = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'plants' };
      const env = { BASE_PATH, TRUST_PROXY: 'loopback', ...jwt };
      const server = await startServer({ ...(databaseUrl && { databaseUrl }), env });
      const admin = (await addAdmin(server)).secret;
      operations = await listOperations(server, BASE_PATH);
      // The token lookup depends on the database. The authorization check does not.
      const asked = databaseUrl && !isFull ? operations.slice(0, 4) : operations;
      const before = await stateOf(server);
      for (let pass = 0; pass < rounds; pass++) {
        credentials = await makeCredentials({ server, admin, provider, random });
        const withCredentials = await stateOf(server);
        for (const operation of asked) {
          for (const credential of credentials) {
            // Omits each required scope in turn. An invalid credential stays invalid with any scope.
            for (const scope of credential.expected[0] === 403 ? operation.scopes : (['admin'] as const)) {
              const answer = await call(server, operation, credential.of(scope), tried++);
              assertRefused(answer, credential, `${operation.method} ${operation.path} with ${credential.name}`);
            }
          }
        }
        assert.deepEqual(await stateOf(server), withCredentials, 'a rejected request changed something');
      }
      assert.deepEqual((await stateOf(server)).plants, before.plants);
      for (const operation of operations) {
        const { status } = await call(server, operation, { headers: { authorization: `Bearer ${admin}` } }, tried);
        assert.ok(
          status !== 401 && status !== 403,
          `${operation.method} ${operation.path} rejects a valid token: ${status}`,
        );
      }
      assert.equal(await server.stop(), 0);
    }
    await tryToReadByWebhook(startServer);
    return `${operations.length} operations × ${credentials.length} credentials, ${tried.toLocaleString('en')} requests, 0 accepted`;
  },
  controls: {
    'lets `admin` alone send plants to a webhook': {
      change: [
        'src/http/routes/webhooks.ts',
        `const READS_PLANTS = ['admin', 'plants:read']`,
        `const READS_PLANTS = ['admin']`,
      ],
      caught: /POST \/store\/webhooks with the wrong scope was accepted/,
    },
    "shows receivers' responses to every token that may list deliveries": {
      change: ['src/http/routes/webhooks.ts', `token.scopes.includes('plants:read') ? page`, 'token ? page'],
      caught: /a list of deliveries shows a plant to a token without plants:read/,
    },
    'does not check scopes': {
      change: [
        'src/http/access/admission.ts',
        'requireScopes(token, scopes);',
        'if (!token) requireScopes(token, scopes);',
      ],
      caught: /with the wrong scope was accepted/,
    },
    'does not check when a token expires': {
      change: ['src/domain/token.ts', '(token.expiresMs === null || nowMs < token.expiresMs)', 'nowMs > 0'],
      caught: /with an expired token was accepted/,
    },
    'accepts JWTs from any issuer': {
      change: ['src/auth/jwt-verifier.ts', '      issuer,\n      audience,', '      audience,'],
      caught: /with a JWT from another issuer was accepted/,
    },
  },
});

/** Checks that a token with only `admin` cannot read plants through a webhook, neither its own nor an existing one. */
async function tryToReadByWebhook(startServer: Trial['startServer']): Promise<void> {
  const server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const owner = (await addAdmin(server)).call;
  const admin = callerOf(server, (await addToken(server.databaseUrl, { scopes: ['admin'] })).secret);
  const trap = await startReceiver();
  const echo = await startReceiver((_request, response, { body }) => response.end(body));
  const { id } = JSON.parse((await owner('POST', '/webhooks', { url: echo.url })).body);
  await owner('PUT', '/plants/1', { name: 'confidential' });
  const deliveries = `/webhooks/${id}/deliveries`;
  await until(async () => (await owner('GET', `${deliveries}?status=delivered`)).body.includes('confidential'));
  for (const [method, path, body] of [
    ['POST', '/webhooks', { url: trap.url }],
    ['PATCH', `/webhooks/${id}`, { url: trap.url }],
    ['POST', `/webhooks/${id}/replay`, { from: 1 }],
    ['GET', `${deliveries}/1`, undefined],
    ['POST', `${deliveries}/1/retry`, undefined],
    ['POST', `/webhooks/${id}/rotate`, undefined],
    ['POST', `/webhooks/${id}/enable`, undefined],
  ] as const) {
    const { status, headers, body: text } = await admin(method, path, body);
    assert.equal(status, 403, `${method} ${path} sends plants for a token without plants:read: ${status} ${text}`);
    const { error, message } = JSON.parse(text);
    assert.equal(error, 40301);
    assert.match(message, /"plants:read"/);
    assert.match(headers['www-authenticate'] ?? '', /error="insufficient_scope", scope="admin plants:read"$/);
  }
  for (const path of ['/webhooks', `/webhooks/${id}`, deliveries]) {
    const { status, body } = await admin('GET', path);
    assert.equal(status, 200, path);
    assert.ok(!body.includes('confidential'), 'a list of deliveries shows a plant to a token without plants:read');
  }
  await owner('PUT', '/plants/2', { name: 'last' });
  await echo.count(2); // all earlier deliveries have been sent by then
  assert.deepEqual([trap.connections(), echo.received.length], [0, 2], 'a token without plants:read caused a delivery');
  assert.equal((await admin('POST', `/webhooks/${id}/test`)).status, 200);
  assert.equal((await admin('DELETE', `/webhooks/${id}`)).status, 204);
  assert.equal(await server.stop(), 0);
}

function assertRefused({ status, headers, body }: Answer, { expected }: Credential, what: string): void {
  assert.equal(status, expected[0], `${what} was accepted: ${status} ${body}`);
  if (body !== '') assert.equal(JSON.parse(body).error, expected[1], what);
  assert.equal(headers['cache-control'], 'no-store', what);
  if (status !== 400) assert.match(headers['www-authenticate'] ?? '', /^Bearer realm=/, what);
}

/** Sends the request from a different address each time, so that failed attempts do not add up to a lockout. */
function call({ port }: TestServer, operation: Operation, sent: Sendable, count: number): Promise<Answer> {
  const address = `10.${(count >> 14) & 255}.${(count >> 6) & 255}.7`;
  const { method, path, type, body } = operation;
  return send(port, {
    method,
    path: `${path}${sent.query ?? ''}`,
    headers: { 'x-forwarded-for': address, ...(type && { 'content-type': type }), ...sent.headers },
    ...(body && { body }),
  });
}

interface State {
  plants: unknown;
  rest: unknown;
}

/** Returns the whole state except the times at which tokens were last used. */
function stateOf({ databaseUrl }: TestServer): Promise<State> {
  return besideServer(databaseUrl, async (store) => ({
    plants: [(await store.list()).records, await store.changes()],
    rest: [
      (await store.listTokens()).map(({ lastUsedMs: _, ...token }) => token),
      (await store.listWebhooks()).map(
        ({ id, url, events, format, name, secret, oldSecret, replay, retries, disabledMs }) => {
          return { id, url, events, format, name, secret, oldSecret, replay, retries, disabledMs };
        },
      ),
    ],
  }));
}
