// The end of a JWT that the service has verified a moment before, in real time. All else: jwt-verifier.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIENCE, makeKey, sign, startIdentityProvider } from '../../testing/identity-provider.ts';
import { callerOf } from '../../testing/request.ts';
import { startTestService } from '../../testing/service.ts';

test('a JWT has 30 s of leeway, and is 401 then, also while it is remembered', async () => {
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
