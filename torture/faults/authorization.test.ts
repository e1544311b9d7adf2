// Every operation that the description names × every credential that is not good for it, on both databases. What the
// requests are about is there, and their bodies are sound: whoever is let in changes something.

import assert from 'node:assert/strict';
import { SCOPES } from '../../src/token.ts';
import { startIdentityProvider } from '../../test/identity-provider.ts';
import { isPostgresHere, makeDatabase } from '../../test/postgres.ts';
import { type Answer, send } from '../../test/request.ts';
import { addToken, besideServer, type TestServer } from '../../test/server.ts';
import { fault } from '../fault.ts';
import { type Credential, makeCredentials, type Sendable } from '../security/bad-credentials.ts';
import { listOperations, type Operation } from '../security/operations.ts';

const BASE_PATH = '/store';

fault({
  name: 'authorization',
  mark: '0 let in, nothing changed',
  rounds: { short: 1, full: 10, of: 'passes over every operation and bad credential, on both databases' },
  async trial({ rounds, random, isFull, startServer }) {
    let tried = 0;
    let operations: Operation[] = [];
    let credentials: Credential[] = [];
    for (const databaseUrl of [undefined, isPostgresHere() ? await makeDatabase() : []].flat()) {
      const provider = await startIdentityProvider();
      const jwt = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: 'plants' };
      const env = { BASE_PATH, TRUST_PROXY: 'loopback', ...jwt };
      const server = await startServer({ ...(databaseUrl && { databaseUrl }), env });
      const admin = (await addToken(server.databaseUrl, { scopes: [...SCOPES] })).secret;
      operations = await listOperations(server, BASE_PATH);
      // How a token is looked up depends on the database, what is asked of it does not.
      const asked = databaseUrl && !isFull ? operations.slice(0, 4) : operations;
      const before = await stateOf(server);
      for (let pass = 0; pass < rounds; pass++) {
        credentials = await makeCredentials({ server, admin, provider, random });
        const withCredentials = await stateOf(server);
        for (const operation of asked) {
          for (const credential of credentials) {
            if (operation.scope === undefined && credential.expected[0] === 403) continue; // any token will do
            const answer = await call(server, operation, credential.of(operation.scope ?? 'admin'), tried++);
            assertRefused(answer, credential, `${operation.method} ${operation.path} with ${credential.name}`);
          }
        }
        assert.deepEqual(await stateOf(server), withCredentials, 'something has changed');
      }
      assert.deepEqual((await stateOf(server)).plants, before.plants);
      for (const operation of operations) {
        const { status } = await call(server, operation, { headers: { authorization: `Bearer ${admin}` } }, tried);
        assert.ok(
          status !== 401 && status !== 403,
          `${operation.method} ${operation.path} refuses a good token: ${status}`,
        );
      }
      assert.equal(await server.stop(), 0);
    }
    return `${operations.length} operations × ${credentials.length} credentials, ${tried.toLocaleString('en')} requests, 0 let in`;
  },
  controls: [
    {
      build: 'one that does not look at scopes',
      changes: [
        {
          file: 'src/http/door.ts',
          from: 'if (scope && !token.scopes.includes(scope)) throw',
          to: 'if (!token) throw',
        },
      ],
      caught: /with the wrong scope was let in/,
    },
    {
      build: 'one that does not look at when a token ends',
      changes: [
        { file: 'src/token.ts', from: '(token.expiresMs === null || nowMs < token.expiresMs)', to: 'nowMs > 0' },
      ],
      caught: /with an expired one was let in/,
    },
    {
      build: 'one that takes JWTs of any issuer',
      changes: [{ file: 'src/jwt.ts', from: '      issuer,\n      audience,', to: '      audience,' }],
      caught: /with a JWT of another issuer was let in/,
    },
  ],
});

function assertRefused({ status, headers, body }: Answer, { expected }: Credential, what: string): void {
  assert.equal(status, expected[0], `${what} was let in: ${status} ${body}`);
  if (body !== '') assert.equal(JSON.parse(body).error, expected[1], what);
  assert.equal(headers['cache-control'], 'no-store', what);
  if (status !== 400) assert.match(headers['www-authenticate'] ?? '', /^Bearer realm=/, what);
}

/** From ever other addresses, so that wrong ones do not add up. */
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

/** But for when tokens were used. */
function stateOf({ databaseUrl }: TestServer): Promise<State> {
  return besideServer(databaseUrl, async (store) => ({
    plants: [(await store.list()).records, await store.changes()],
    rest: [
      (await store.listTokens()).map(({ lastUsedMs: _, ...token }) => token),
      (await store.listWebhooks()).map(({ id, secret, oldSecret, replay, retries, disabledMs }) => [
        id,
        secret,
        oldSecret,
        replay,
        retries,
        disabledMs,
      ]),
    ],
  }));
}
