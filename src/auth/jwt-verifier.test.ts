// JWTs of an identity provider, which is a real server, as credentials on the real process.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { addToken, startServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

const nowS = () => Math.floor(Date.now() / 1000);

interface Started {
  server: TestServer;
  provider: IdentityProvider;
}

async function start(provider: IdentityProvider, env: Record<string, string> = {}): Promise<Started> {
  const jwt = { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: AUDIENCE, LOG_LEVEL: 'debug', TRUST_PROXY: 'loopback' };
  return { server: await startServer({ env: { ...jwt, ...env } }), provider };
}

let address = 0;
function call({ server }: Started, jwt: string, method = 'GET', path = '/plants', body?: string): Promise<Answer> {
  return send(server.port, {
    method,
    path,
    headers: {
      authorization: `Bearer ${jwt}`,
      'x-forwarded-for': `10.0.0.${address++ % 250}`, // so that wrong ones do not add up
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

  test('is a credential: its scope says what it may do, and the change log names its subject', async () => {
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
    assert.equal(await statusOf(started, await sign(issuer, key, { scope: ['plants:read'] })), 200, 'an array, too');
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

  test('of any algorithm without a shared secret is verified', async () => {
    const keys = await Promise.all(['RS256', 'PS512', 'ES384', 'EdDSA'].map((alg) => makeKey(alg, alg)));
    started.provider.publish(key, ...keys);
    for (const other of keys) assert.equal(await statusOf(started, await sign(issuer, other)), 200, other.alg);
  });

  test('that is wrong in any way is 401, the same for all of them', async () => {
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
    assert.ok(!started.server.output().includes(signature), 'a token is in the log');
    await until(() => /Not let in: bad_jwt \(unexpected \\"aud\\" claim value\)/.test(started.server.output()));
  });

  test('has 30 s of leeway, and ends then', async () => {
    assert.equal(await statusOf(started, await sign(issuer, key, { exp: nowS() - 25 })), 200);
    assert.equal(await statusOf(started, await sign(issuer, key, { nbf: nowS() + 25 })), 200);
    const ending = await sign(issuer, key, { exp: nowS() - 25 });
    assert.equal(await statusOf(started, ending), 200);
    await sleep(6000);
    assert.equal(await statusOf(started, ending), 401);
  });

  test('has the rate of its subject, whichever of its tokens it sends', async () => {
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
      'tokens of our own have theirs',
    );
    await limited.server.stop();
  });

  test('is no credential where there is no issuer', async () => {
    const without = { server: await startServer(), provider: started.provider };
    assert.equal(await statusOf(without, await sign(issuer, key)), 401);
    await without.server.stop();
  });
});

suite('the key server', () => {
  test('is found through the metadata of OpenID Connect, of RFC 8414, or by JWKS_URL', async () => {
    const key = await makeKey('a');
    for (const [metadataPath, issuerPath, env] of [
      ['/realm/.well-known/openid-configuration', '/realm', {}],
      ['/.well-known/oauth-authorization-server/realm', '/realm', {}],
      ['/nowhere', '', { JWKS_URL: 'jwksUrl' }],
    ] as const) {
      const provider = await startIdentityProvider(metadataPath, issuerPath);
      provider.publish(key);
      const started = await start(provider, 'JWKS_URL' in env ? { JWKS_URL: provider.jwksUrl } : {});
      assert.equal(await statusOf(started, await sign(provider.issuer, key)), 200, metadataPath);
      await started.server.stop();
      await provider.close();
    }
  });

  test('may change its keys: new ones work at once, and those without a name are tried', async () => {
    const [first, second] = [await makeKey('first'), await makeKey('second')];
    const [nameless, other] = [await makeKey(undefined), await makeKey(undefined)];
    const provider = await startIdentityProvider();
    const { issuer } = provider;
    provider.publish(first);
    const started = await start(provider);
    assert.equal(await statusOf(started, await sign(issuer, first)), 200);
    provider.publish(first, second);
    assert.equal(await statusOf(started, await sign(issuer, second)), 200);
    provider.publish(nameless, other);
    for (const key of [other, nameless]) assert.equal(await statusOf(started, await sign(issuer, key)), 200);
    assert.equal(await statusOf(started, await sign(issuer, first)), 401, 'one that is gone');
    await started.server.stop();
  });

  test('out of reach: known keys go on working, unknown ones are 401, and it recovers by itself', async () => {
    const [known, unknown] = [await makeKey('known'), await makeKey('unknown')];
    const provider = await startIdentityProvider();
    const { issuer } = provider;
    provider.publish(known);
    const started = await start(provider);
    assert.equal(await statusOf(started, await sign(issuer, known)), 200);
    await provider.close();
    assert.equal(await statusOf(started, await sign(issuer, known, { sub: 'bob' })), 200);
    assert.equal(await statusOf(started, await sign(issuer, unknown)), 401);
    await until(() => /"kind":"keys_failing","reason":"[^"]*ECONNREFUSED/.test(started.server.output()));
    await provider.open();
    provider.publish(known, unknown);
    await sleep(1100); // after a failure nobody waits for it for a second
    assert.equal(await statusOf(started, await sign(issuer, unknown)), 200);
    await until(() => started.server.output().includes('can be read again'));

    const late = await makeKey('late');
    for (const answer of [
      (response: ServerResponse) => response.writeHead(500).end(),
      (response: ServerResponse) => response.end('not JSON'),
      (response: ServerResponse) => response.end('{"keys":5}'),
      (response: ServerResponse) => response.end(Buffer.alloc(2 * 1024 * 1024, ' ')),
      (response: ServerResponse) => void response, // which never ends
      (response: ServerResponse) => response.writeHead(302, { location: provider.jwksUrl }).end(),
    ]) {
      provider.answer(answer);
      await sleep(1050);
      assert.equal(await statusOf(started, await sign(issuer, late)), 401);
      assert.equal(await statusOf(started, await sign(issuer, known, { jti: String(Math.random()) })), 200);
    }
    assert.ok(!started.server.output().includes('"kind":"bug"'));
    await started.server.stop();
  });

  test('that was never there keeps nobody else out, is asked now and then only, and of another issuer is not believed', async () => {
    const key = await makeKey('a');
    const provider = await startIdentityProvider();
    provider.publish(key);
    const impostor = await start({ ...provider, issuer: `${provider.issuer}/` });
    assert.equal(await statusOf(impostor, await sign(`${provider.issuer}/`, key)), 401);
    await until(() => impostor.server.output().includes('its metadata is that of the issuer'));
    assert.equal((await call(impostor, impostor.server.secret)).status, 200);
    const { secret } = await addToken(impostor.server.databaseUrl, {});
    const askedBefore = provider.asked.length;
    const jwts = await Promise.all(
      Array.from({ length: 60 }, (_, n) => sign(`${provider.issuer}/`, key, { jti: `${n}` })),
    );
    for (const jwt of jwts) assert.equal(await statusOf(impostor, jwt), 401);
    assert.equal((await call(impostor, secret)).status, 200);
    assert.ok(provider.asked.length - askedBefore <= 2 * 10, `asked ${provider.asked.length - askedBefore} times`);
    await impostor.server.stop();
  });
});
