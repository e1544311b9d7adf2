// Tests of the log lines about JWTs and the keys that verify them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDIENCE, makeKey, sign, startIdentityProvider } from '../../testing/identity-provider.ts';
import { callerOf } from '../../testing/request.ts';
import { startServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

test('the service log gives the reason for a rejected JWT, never the JWT, and reports failing and recovered keys', async () => {
  const [known, unknown] = [await makeKey('known'), await makeKey('unknown')];
  const provider = await startIdentityProvider();
  const { issuer } = provider;
  provider.publish(known);
  const env = { JWT_ISSUER: issuer, JWT_AUDIENCE: AUDIENCE, LOG_LEVEL: 'debug' };
  const server = await startServer({ env });
  const jwts: string[] = [];
  const statusOf = async (jwt: string) => {
    jwts.push(jwt);
    return (await callerOf(server, jwt)('GET', '/plants')).status;
  };
  assert.equal(await statusOf(await sign(issuer, known)), 200);
  assert.equal(await statusOf(await sign(issuer, known, { aud: 'others' })), 401);
  await until(() => /Request rejected: bad_jwt \(unexpected \\"aud\\" claim value\)/.test(server.output()));

  await provider.close();
  assert.equal(await statusOf(await sign(issuer, known, { sub: 'bob' })), 200);
  assert.equal(await statusOf(await sign(issuer, unknown)), 401);
  await until(() => /"kind":"keys_failing","reason":"[^"]*ECONNREFUSED/.test(server.output()));
  await provider.open();
  provider.publish(known, unknown);
  const again = await sign(issuer, unknown, { jti: 'again' });
  await until(async () => (await statusOf(again)) === 200, 5000);
  await until(() => server.output().includes('keys_recovered'));

  assert.equal(await server.stop(), 0);
  for (const jwt of jwts) assert.ok(!server.output().includes(jwt.split('.')[2] as string), 'a token is in the log');
  assert.doesNotMatch(server.output(), /"kind":"bug"/);
  await provider.close();
});
