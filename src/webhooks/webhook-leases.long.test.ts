// Tests webhooks with two nodes on one database: one node delivers each change, and the other takes over if it fails.
// webhook-nodes.long.test.ts covers a killed process.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import pg from 'pg';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { startProxy } from '../../testing/proxy.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { startWebhookService } from '../../testing/webhook-service.ts';

const WEBHOOKS = 4;
const SHARED_OUT = '2,2';
/** The lease is longer than a stall of a busy machine, which takes up to 3 s. */
const leaseTiming = { renewEveryMs: 100, leaseMs: 4000, attemptMs: 1000 };

suite('webhooks of two nodes', needsPostgres, () => {
  test('apply new events to all changes after the patch, although the delivering node loads them later', async () => {
    const databaseUrl = await makeDatabase();
    const slowTiming = { ...leaseTiming, renewEveryMs: 1000 };
    const delivering = await startWebhookService({ databaseUrl, leaseTiming: slowTiming });
    const receiver = await startReceiver();
    const { id } = await delivering.add(receiver.url);
    for (let n = 0; n < 20; n++) await delivering.call('PUT', `/plants/${n}`, { name: 'Ficus' });
    await receiver.count(20);
    const { call } = await startWebhookService({ databaseUrl, leaseTiming: slowTiming });
    const events = ['plant.created', 'plant.deleted'];
    assert.equal((await call('PATCH', `/webhooks/${id}`, { events, format: 'event' })).status, 200);
    for (let n = 0; n < 20; n++) await call('DELETE', `/plants/${n}`);
    const deleted = () => receiver.received.filter(({ headers }) => headers['webhook-event'] === 'plant.deleted');
    await until(() => new Set(deleted().map(({ seq }) => seq)).size === 20);
    assert.ok(deleted().every(({ body }) => body.startsWith('{"type":"plant.deleted"')));
  });

  test('are distributed, taken over when a node stops or loses the database, and never sent by two nodes at once', async (t) => {
    const databaseUrl = await makeDatabase();
    const proxied = new URL(databaseUrl);
    const proxy = await startProxy(Number(proxied.port));
    t.after(() => proxy.close());
    const looking = new pg.Client(databaseUrl); // one connection for all looks
    await looking.connect();
    t.after(() => looking.end());
    proxied.port = String(proxy.port);
    const losing = await startWebhookService({ databaseUrl: proxied.href, leaseTiming });
    let other = await startWebhookService({ databaseUrl, leaseTiming });
    const inFlight = new Set<string>();
    let overlaps = 0;
    const receiver = await startReceiver((_request, response, { path, seq }) => {
      const key = `${path} ${seq}`;
      if (inFlight.has(key)) overlaps++;
      inFlight.add(key);
      setTimeout(() => {
        inFlight.delete(key);
        response.end();
      }, 10);
    });
    for (let n = 0; n < WEBHOOKS; n++) await other.add(`${receiver.url}/${n}`);
    await until(async () => (await shares()).join() === SHARED_OUT);
    let plants = 0;
    await create(10);
    await until(() => distinct() === plants * WEBHOOKS);
    assert.equal(receiver.received.length, plants * WEBHOOKS, 'no delivery arrived twice');

    await other.service.stop();
    await create(10, losing);
    await until(() => distinct() === plants * WEBHOOKS);
    assert.equal(receiver.received.length, plants * WEBHOOKS, 'no delivery arrived twice');
    assert.deepEqual(await shares(), [WEBHOOKS]);
    other = await startWebhookService({ databaseUrl, leaseTiming });
    await until(async () => (await shares()).join() === SHARED_OUT);

    proxy.isMuted = true;
    await create(10);
    await until(() => distinct() === plants * WEBHOOKS);
    assert.deepEqual(await shares(), [WEBHOOKS]);
    assert.equal(overlaps, 0, 'a delivery was in flight twice');
    proxy.isMuted = false;
    proxy.drop();
    await until(async () => (await shares()).join() === SHARED_OUT);

    async function create(count: number, { call } = other): Promise<void> {
      for (let n = 0; n < count; n++) await call('PUT', `/plants/${plants++}`, { name: 'Ficus' });
    }

    function distinct(): number {
      return new Set(receiver.received.map(({ path, seq }) => `${path} ${seq}`)).size;
    }

    async function shares(): Promise<number[]> {
      const { rows } = await looking.query('SELECT count(*)::integer AS count FROM webhooks GROUP BY node');
      return rows.map(({ count }) => count);
    }
  });
});
