// Tests of paging while other clients write. plants.long.test.ts runs it with 100,000 records.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestService } from '../../../testing/service.ts';
import { createClient } from '../../client/client.ts';

const RECORDS = Number(process.env.WALK_RECORDS ?? 2000);
const PAGE = Math.max(100, RECORDS / 100);

test(`paging through ${RECORDS} records returns each permanent one exactly once and in order, during concurrent writes`, async () => {
  const server = await startTestService();
  const client = createClient({ url: server.url, token: server.secret });
  for (let at = 0; at < RECORDS; at += 1000) {
    await client.import(
      Array.from({ length: 1000 }, (_, n) => ({ id: BigInt(at + n) * 3n, name: `Stays ${at + n}`, tag: 's' })),
    );
  }
  let done = false;
  let writes = 0;
  const write = async (seed: number) => {
    for (let n = seed; !done; n += 7) {
      const near = BigInt((n * 7919) % RECORDS) * 3n;
      await client.put(near + 1n, { name: 'Comes', tag: 's' });
      await client.patch(near, { tag: n % 2 === 0 ? 's' : 't' });
      await client.delete(near + 1n).catch(() => {});
      await client.create({ id: near + 2n, name: 'Comes to stay' }).catch(() => {});
      writes += 4;
    }
  };
  const writers = Promise.all([1, 2, 3, 4].map(write));
  for (const query of [{}, { q: 'stays' }]) {
    let last = -1n;
    let next = 0n;
    for await (const { id } of client.walk({ limit: PAGE, ...query })) {
      assert.ok(id > last, `${id} after ${last}`);
      last = id;
      if (id % 3n !== 0n) continue;
      assert.equal(id, next, 'none is missed');
      next += 3n;
    }
    assert.equal(next, BigInt(RECORDS) * 3n);
  }
  done = true;
  await writers;
  assert.ok(writes > RECORDS / 1000, `${writes} writes meanwhile`);
  await server.stop();
});
