// Tests of JWTs as credentials, with a real server as the identity provider.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { UnsecuredJWT } from 'jose';
import {
  AUDIENCE,
  type IdentityProvider,
  type Key,
  makeKey,
  sign,
  startIdentityProvider,
} from '../../testing/identity-provider.ts';
import { type Answer, send } from '../../testing/request.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { isActive } from '../domain/token.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import { createJwksClient } from './jwks-client.ts';
import { createJwtVerifier } from './jwt-verifier.ts';

const nowS = () => Math.floor(Date.now() / 1000);

interface Started {
  server: TestService;
  provider: IdentityProvider;
}

async function start(provider: IdentityProvider, env: Record<string, string> = {}): Promise<Started> {
  const jwt = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: AUDIENCE, TRUST_PROXY: 'loopback' };
  return { server: await startTestService({ env: { ...jwt, ...env } }), provider };
}

let address = 0;
function call({ server }: Started, jwt: string, method = 'GET', path = '/plants', body?: string): Promise<Answer> {
  return send(server.port, {
    method,
    path,
    headers: {
      authorization: `Bearer ${jwt}`,
      'x-forwarded-for': `10.0.0.${address++ % 250}`, // so that failed attempts do not reach the limit per address
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body }),
  });
}

async function statusOf(started: Started, jwt: string): Promise<number> {
  return (await call(started, jwt)).status;
}

suite('a JWT', () => {
  let started: Started;
  let key: Key;
  let issuer: string;
  before(async () => {
    key = await makeKey('one');
    const provider = await startIdentityProvider();
    provider.publish(key);
    issuer = provider.issuer;
    started = await start(provider, { JWT_RATE: '1000/s' });
  });
  after(() => started.server.stop());

  test('is accepted with the scopes of its scope claim, and the change log names its subject', async () => {
    const jwt = await sign(issuer, key, { sub: 'alice@example.com' });
    const created = await call(started, jwt, 'POST', '/plants', '{"id":1,"name":"Monstera"}');
    assert.equal(created.status, 200, created.body);
    assert.equal(created.headers['ratelimit-policy'], '"token";q=1000;w=1');
    const [change] = JSON.parse((await call(started, jwt, 'GET', '/events')).body);
    assert.equal(change.token, 'jwt:alice@example.com');
    assert.equal((await call(started, jwt, 'GET', '/tokens')).status, 403);
    const self = JSON.parse((await call(started, jwt, 'GET', '/tokens/self')).body);
    assert.deepEqual([self.id, self.name, self.rate], [change.token, 'alice@example.com', '1000/s']);
    const endless = await sign(issuer, key, { exp: 1e300, iat: -1e300, scope: '' });
    const { expires, scopes } = JSON.parse((await call(started, endless, 'GET', '/tokens/self')).body);
    assert.deepEqual([expires, scopes], ['9999-12-31T23:59:59.999Z', []]);
    assert.equal((await call(started, await sign(issuer, key, { scope: 'admin' }), 'GET', '/tokens')).status, 200);
    assert.equal(
      await statusOf(started, await sign(issuer, key, { scope: ['plants:read'] })),
      200,
      'scopes in an array',
    );
    assert.equal(await statusOf(started, await sign(issuer, key, { aud: ['other', AUDIENCE] })), 200);
    for (const scope of [
      undefined,
      '',
      'plants:reads',
      'x,plants:read',
      ['x plants:read'],
      'openid profile',
      5,
      { admin: true },
    ]) {
      const { status, headers } = await call(started, await sign(issuer, key, { scope }));
      assert.deepEqual([status, /scope="plants:read"/.test(headers['www-authenticate'] ?? '')], [403, true]);
    }
  });

  test('is verified for every algorithm without a shared secret', async () => {
    const keys = await Promise.all(['RS256', 'PS512', 'ES384', 'EdDSA'].map((alg) => makeKey(alg, alg)));
    started.provider.publish(key, ...keys);
    for (const other of keys) assert.equal(await statusOf(started, await sign(issuer, other)), 200, other.alg);
  });

  test('gets the same 401 for every kind of fault', async () => {
    const stranger = await makeKey('one');
    const good = await sign(issuer, key);
    const [header, payload, signature = ''] = good.split('.');
    const shared = ['{"alg":"HS256","kid":"one"}', Buffer.from(payload ?? '', 'base64url').toString()]
      .map((text) => Buffer.from(text).toString('base64url'))
      .join('.');
    const hmac = createHmac('sha256', JSON.stringify(key.publicJwk)).update(shared).digest('base64url');
    const wrong: Record<string, string> = {
      'another key': await sign(issuer, stranger),
      'an unknown key': await sign(issuer, { ...stranger, kid: 'two' }),
      'another payload': [header, Buffer.from('{"sub":"root"}').toString('base64url'), signature].join('.'),
      'a cut signature': good.slice(0, -4),
      'no signature': `${header}.${payload}.`,
      'alg none': new UnsecuredJWT({ sub: 'alice', iss: issuer, aud: AUDIENCE }).setExpirationTime('1h').encode(),
      'a shared secret': `${shared}.${hmac}`,
      'another issuer': await sign('https://evil.example', key),
      'another audience': await sign(issuer, key, { aud: 'others' }),
      'no audience': await sign(issuer, key, { aud: undefined }),
      'no expiry': await sign(issuer, key, { exp: undefined }),
      'long expired': await sign(issuer, key, { exp: nowS() - 31 }),
      'not valid yet': await sign(issuer, key, { nbf: nowS() + 60 }),
      'no subject': await sign(issuer, key, { sub: undefined }),
      'an empty subject': await sign(issuer, key, { sub: '' }),
      'U+0000 in its subject': await sign(issuer, key, { sub: 'a\u0000b' }),
      'a subject that is no text': await sign(issuer, key, { sub: { a: 1 } }),
      'a subject that is a number': await sign(issuer, key, { sub: 5 }),
      'a long subject': await sign(issuer, key, { sub: 'x'.repeat(256) }),
      'a header that is not JSON': `eA.${payload}.${signature}`,
      'dots only': '..',
      'five parts': 'a.b.c.d.e',
    };
    const bodies = new Set<string>();
    for (const [name, jwt] of Object.entries(wrong)) {
      const { status, headers, body } = await call(started, jwt);
      assert.equal(status, 401, name);
      assert.match(headers['www-authenticate'] ?? '', /error="invalid_token"$/);
      bodies.add(body);
    }
    assert.equal(bodies.size, 1);
    const denied = started.server.events.filter(({ kind }) => kind === 'refused');
    assert.ok(!JSON.stringify(started.server.events).includes(signature), 'a token is in the log');
    const isNamed = (event: ServiceEvent) =>
      event.kind === 'refused' && event.reason === 'bad_jwt' && event.why === 'unexpected "aud" claim value';
    assert.ok(started.server.events.some(isNamed), JSON.stringify(denied));
  });

  test('expires after 30 s of leeway', async () => {
    assert.equal(await statusOf(started, await sign(issuer, key, { exp: nowS() - 25 })), 200);
    assert.equal(await statusOf(started, await sign(issuer, key, { nbf: nowS() + 25 })), 200);
    let nowMs = 1_800_000_000_000;
    const jwksClient = createJwksClient({ issuer, jwksUrl: undefined, observe() {} });
    const verify = createJwtVerifier({ issuer, audience: [AUDIENCE], rate: null }, jwksClient, () => nowMs);
    const exp = nowMs / 1000;
    nowMs += 29_000;
    const token = await verify(await sign(issuer, key, { exp }));
    assert.deepEqual([isActive(token, nowMs), isActive(token, nowMs + 1000)], [true, false], 'also while it is cached');
    nowMs += 2000;
    await assert.rejects(verify(await sign(issuer, key, { exp, jti: 'another' })), { reason: 'expired' });
  });

  test('shares the rate of its subject with all other tokens of the subject', async () => {
    const limited = await start(started.provider, { JWT_RATE: '3/m' });
    const statuses = [];
    for (let n = 0; n < 5; n++) {
      statuses.push(await statusOf(limited, await sign(issuer, key, { jti: String(n), sub: 'greedy' })));
    }
    assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
    assert.equal(await statusOf(limited, await sign(issuer, key, { sub: 'modest' })), 200);
    assert.equal(
      (await call(limited, limited.server.secret)).headers.ratelimit,
      undefined,
      'stored tokens have their own rate',
    );
    await limited.server.stop();
  });

  test('is rejected if no issuer is configured', async () => {
    const without = { server: await startTestService(), provider: started.provider };
    assert.equal(await statusOf(without, await sign(issuer, key)), 401);
    await without.server.stop();
  });
});
