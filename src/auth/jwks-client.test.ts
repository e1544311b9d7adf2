// Tests of the JWKS client against a real server that acts as the identity provider.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import {
  AUDIENCE,
  type IdentityProvider,
  makeKey,
  sign,
  startIdentityProvider,
} from '../../testing/identity-provider.ts';
import { callerOf } from '../../testing/request.ts';
import { addToken } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { reportStatesOnce } from '../observability/report-states-once.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import { createJwksClient } from './jwks-client.ts';
import { createJwtVerifier } from './jwt-verifier.ts';

/** The default timeout is long, because a busy machine can be slow. */
function start({ issuer }: Pick<IdentityProvider, 'issuer'>, jwksUrl?: string, timeoutMs = 60_000) {
  const events: ServiceEvent[] = [];
  const clock = { nowMs: 0 };
  const observe = reportStatesOnce((event) => void events.push(event));
  const jwksClient = createJwksClient({ issuer, jwksUrl, observe, now: () => clock.nowMs, timeoutMs });
  const verify = createJwtVerifier({ issuer, audience: [AUDIENCE], rate: null }, jwksClient);
  return { verify, clock, events };
}

test('the client finds the keys through OpenID Connect metadata, RFC 8414 metadata or JWKS_URL', async () => {
  const key = await makeKey('a');
  for (const [metadataPath, issuerPath, isGiven] of [
    ['/realm/.well-known/openid-configuration', '/realm', false],
    ['/.well-known/oauth-authorization-server/realm', '/realm', false],
    ['/nowhere', '', true],
  ] as const) {
    const provider = await startIdentityProvider(metadataPath, issuerPath);
    provider.publish(key);
    const { verify } = start(provider, isGiven ? provider.jwksUrl : undefined);
    assert.equal((await verify(await sign(provider.issuer, key))).name, 'alice', metadataPath);
    await provider.close();
  }
});

test('new keys work immediately, and keys without an id are tried', async () => {
  const [first, second] = [await makeKey('first'), await makeKey('second')];
  const [nameless, other] = [await makeKey(undefined), await makeKey(undefined)];
  const provider = await startIdentityProvider();
  const { issuer } = provider;
  provider.publish(first);
  const { verify } = start(provider);
  await verify(await sign(issuer, first));
  provider.publish(first, second);
  await verify(await sign(issuer, second));
  provider.publish(nameless, other);
  for (const key of [other, nameless]) await verify(await sign(issuer, key));
  const gone = await sign(issuer, first, { jti: 'not remembered' });
  await assert.rejects(verify(gone), { reason: 'no_key' });
});

test('without the provider, known keys keep working, unknown keys are rejected, and the client recovers', async () => {
  const [known, unknown, late] = [await makeKey('known'), await makeKey('unknown'), await makeKey('late')];
  const provider = await startIdentityProvider();
  const { issuer } = provider;
  provider.publish(known);
  const { verify, clock, events } = start(provider);
  await verify(await sign(issuer, known));
  await provider.close();
  await verify(await sign(issuer, known, { sub: 'bob' }));
  await assert.rejects(verify(await sign(issuer, unknown)), { reason: 'no_key' });
  assert.match(JSON.stringify(events), /^\[{"kind":"keys_failing","reason":"[^"]*ECONNREFUSED/);
  await provider.open();
  provider.publish(known, unknown);
  clock.nowMs += 999;
  await assert.rejects(verify(await sign(issuer, unknown)), { reason: 'no_key' }, 'still paused');
  clock.nowMs += 1;
  await verify(await sign(issuer, unknown));
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['keys_failing', 'keys_recovered'],
  );

  for (const answer of [
    (response: ServerResponse) => response.writeHead(500).end(),
    (response: ServerResponse) => response.end('not JSON'),
    (response: ServerResponse) => response.end('{"keys":5}'),
    (response: ServerResponse) => response.end(Buffer.alloc(2 * 1024 * 1024, ' ')),
    (response: ServerResponse) => response.writeHead(302, { location: provider.jwksUrl }).end(),
  ]) {
    provider.answer(answer);
    clock.nowMs += 60_000;
    await assert.rejects(verify(await sign(issuer, late)), { reason: 'no_key' });
    await verify(await sign(issuer, known, { jti: String(Math.random()) }));
  }
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['keys_failing', 'keys_recovered', 'keys_failing'],
  );
});

test('a response that never ends times out', async () => {
  const key = await makeKey('a');
  const provider = await startIdentityProvider();
  provider.answer((response: ServerResponse) => void response);
  const { verify, events } = start(provider, provider.jwksUrl, 100);
  await assert.rejects(verify(await sign(provider.issuer, key)), { reason: 'no_key' });
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['keys_failing'],
  );
});

test('requests for missing keys are limited, and metadata of another issuer is rejected', async () => {
  const key = await makeKey('a');
  const provider = await startIdentityProvider();
  provider.publish(key);
  const issuer = `${provider.issuer}/`;
  const { verify, events } = start({ issuer });
  await assert.rejects(verify(await sign(issuer, key)), { reason: 'no_key' });
  assert.match(JSON.stringify(events), /metadata names another issuer/);
  const { clock, verify: verifyLater } = start({ issuer });
  const askedBefore = provider.asked.length;
  for (let n = 0; n < 60; n++) {
    clock.nowMs += n < 30 ? 1000 : 0;
    await assert.rejects(verifyLater(await sign(issuer, key, { jti: `${n}` })), { reason: 'no_key' });
  }
  const asked = provider.asked.length - askedBefore;
  assert.ok(asked > 0 && asked <= 2 * (10 + 5), `asked ${asked} times`);
});

test('missing keys do not affect other tokens', async () => {
  const provider = await startIdentityProvider('/nowhere');
  const service = await startTestService({ env: { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: AUDIENCE } });
  const key = await makeKey('a');
  const statusOf = async (token: string) => (await callerOf(service, token)('GET', '/plants')).status;
  assert.equal(await statusOf(await sign(provider.issuer, key)), 401);
  assert.equal(await statusOf(service.secret), 200);
  const { secret } = await addToken(service.databaseUrl, {});
  for (let n = 0; n < 60; n++) assert.equal(await statusOf(await sign(provider.issuer, key, { jti: `${n}` })), 401);
  assert.equal(await statusOf(secret), 200, 'a token that was never looked up');
  assert.ok(!service.events.some(({ kind }) => kind === 'bug'));
});

test('the client reloads the keys every 5 minutes until it stops', async (t) => {
  const provider = await startIdentityProvider();
  t.mock.timers.enable({ apis: ['setInterval'] });
  const jwksClient = createJwksClient({ issuer: provider.issuer, jwksUrl: provider.jwksUrl, observe() {} });
  t.mock.timers.tick(5 * 60_000);
  await until(() => provider.asked.length === 1);
  await jwksClient.keys();
  jwksClient.stop();
  t.mock.timers.tick(5 * 60_000);
  await fetch(provider.issuer); // arrives after any request of the client
  assert.deepEqual(provider.asked, ['/keys', '/']);
});
