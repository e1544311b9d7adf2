// Tests webhooks with several nodes on one database: one node sends each delivery, and another takes over if it fails.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { type Call, callerOf } from '../../testing/request.ts';
import { addToken, startServer, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

const WEBHOOKS = 6;

suite('webhooks of several nodes', needsPostgres, () => {
  test('are distributed, taken over from a stopped or killed node, and never sent by two nodes at once', async (t) => {
    const databaseUrl = await makeDatabase();
    const env = { WEBHOOK_ALLOW_PRIVATE: '1' };
    const start = () => startServer({ databaseUrl, env });
    const nodes = [await start(), await start()] as [TestServer, TestServer];
    const { secret } = await addToken(databaseUrl, { scopes: ['admin', 'plants:read', 'plants:write'] });
    let call: Call = callerOf(nodes[0], secret);
    const underWay = new Map<string, number>();
    let overlaps = 0;
    const receiver = await startReceiver((_request, response, { path, seq }) => {
      const key = `${path} ${seq}`;
      underWay.set(key, (underWay.get(key) ?? 0) + 1);
      if ((underWay.get(key) ?? 0) > 1) overlaps++;
      setTimeout(() => {
        underWay.set(key, (underWay.get(key) ?? 0) - 1);
        response.end();
      }, 10);
    });
    for (let n = 0; n < WEBHOOKS; n++) {
      assert.equal((await call('POST', '/webhooks', { url: `${receiver.url}/${n}` })).status, 201);
    }
    await until(async () => (await shares()).join() === '3,3');

    let plants = 0;
    await create(50);
    await arrived(50);
    assert.equal(receiver.received.length, 50 * WEBHOOKS, 'no delivery arrived twice');

    const stoppedMs = performance.now();
    assert.equal(await nodes[1].stop(), 0);
    await create(50);
    await arrived(100, 10_000); // far less than the 20 s after a kill
    t.diagnostic(`taken over ${Math.round(performance.now() - stoppedMs)} ms after a stop`);
    assert.equal(receiver.received.length, 100 * WEBHOOKS, 'no delivery arrived twice');

    nodes[1] = await start();
    await until(async () => (await shares()).join() === '3,3');
    const creating = create(100);
    await sleep(200);
    await nodes[0].kill();
    const killedMs = performance.now();
    call = callerOf(nodes[1], secret);
    await creating;
    await arrived(plants);
    t.diagnostic(`taken over ${Math.round(performance.now() - killedMs)} ms after a kill`);
    assert.deepEqual(await shares(), [6]);
    assert.equal(overlaps, 0, 'a delivery was in flight twice');
    const again = receiver.received.length - plants * WEBHOOKS;
    assert.ok(again < 40 * WEBHOOKS, `${again} arrived twice`);
    t.diagnostic(`${plants} plants to ${WEBHOOKS} webhooks, ${again} deliveries arrived twice`);
    await nodes[1].stop();

    async function create(count: number): Promise<void> {
      for (let n = 0; n < count; ) {
        const { status } = await call('PUT', `/plants/${plants}`, { name: 'Ficus' }).catch(() => ({ status: 0 }));
        if (status !== 200) continue; // retries on the other node
        plants++;
        n++;
      }
    }

    async function arrived(count: number, withinMs?: number): Promise<void> {
      await until(() => distinct() >= count * WEBHOOKS, withinMs);
    }

    function distinct(): number {
      return new Set(receiver.received.map(({ path, seq }) => `${path} ${seq}`)).size;
    }

    async function shares(): Promise<number[]> {
      const rows = await queryPostgres(databaseUrl, 'SELECT count(*)::integer AS count FROM webhooks GROUP BY node');
      return rows.map(({ count }) => count as number);
    }
  });
});
