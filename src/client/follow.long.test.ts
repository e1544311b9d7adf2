// client.follow() across a server process that is killed. All else: follow.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../testing/free-port.ts';
import { makeFolder, startServer } from '../../testing/server.ts';
import { createClient } from './client.ts';

test('follow() goes on after a restart of the server', async () => {
  const folder = makeFolder();
  const env = { PORT: String(await freePort()) };
  const first = await startServer({ folder, env });
  const follower = createClient({ url: first.url, token: first.secret });
  const seen: bigint[] = [];
  await follower.create({ id: 1n, name: 'before' });
  for await (const { plant } of follower.follow({ signal: AbortSignal.timeout(20_000) })) {
    seen.push(plant.id);
    if (plant.id === 3n) break;
    if (plant.id === 2n) {
      await first.kill();
      await startServer({ folder, env });
    }
    await follower.create({ id: plant.id + 1n, name: 'next' });
  }
  assert.deepEqual(seen, [1n, 2n, 3n]);
});
