// Tests in real time that a recently verified JWT expires. jwt-verifier.test.ts has the other tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIENCE, makeKey, sign, startIdentityProvider } from '../../testing/identity-provider.ts';
import { callerOf } from '../../testing/request.ts';
import { startTestService } from '../../testing/service.ts';

test('a JWT gets 401 after 30 s of leeway, even while it is cached', async () => {
  const nowS = () => Math.floor(Date.now() / 1000);
  const key = await makeKey('one');
  const provider = await startIdentityProvider();
  provider.publish(key);
  const service = await startTestService({ env: { JWT_ISSUER: provider.issuer, JWT_AUDIENCE: AUDIENCE } });
  const ending = await sign(provider.issuer, key, { exp: nowS() - 25 });
  const statusOf = async () => (await callerOf(service, ending)('GET', '/plants')).status;
  assert.equal(await statusOf(), 200);
  await sleep(6000);
  assert.equal(await statusOf(), 401);
  await service.stop();
});
