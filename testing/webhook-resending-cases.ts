// Changes that are sent again, or were pruned before they were sent, on each database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startReceiver } from './receiver.ts';
import { eventually, until } from './until.ts';
import type { WebhookService } from './webhook-service.ts';

export function resendingCases(started: () => WebhookService): void {
  test('a delivered change can be retried and a range replayed, and new changes follow', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    for (let n = 60; n < 66; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
    await receiver.count(6);
    const first = Math.min(...receiver.received.map(({ seq }) => seq)); // Changes of different plants can arrive in any order.
    await webhooks.settled(id, 6);
    const retried = await call('POST', `/webhooks/${id}/deliveries/${first + 1}/retry`);
    assert.equal(retried.status, 202, retried.body);
    await receiver.count(7);
    await webhooks.settled(id, 6);
    const replayed = await call('POST', `/webhooks/${id}/replay`, { from: first + 2, to: first + 4 });
    assert.equal(replayed.status, 202, replayed.body);
    await call('PUT', '/plants/66', { name: '66' });
    await receiver.count(11);
    assert.deepEqual(
      receiver.received
        .slice(6)
        .map(({ seq }) => seq - first)
        .sort(),
      [1, 2, 3, 4, 6],
    );
    assert.equal((await call('POST', `/webhooks/${id}/replay`, { from: first + 100 })).status, 400);
    await webhooks.remove(id);
  });

  test('a concurrent retry and replay send each change once', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    for (let n = 0; n < 3; n++) await call('PUT', `/plants/${500 + n}`, { name: String(n) });
    await webhooks.settled(id, 3);
    const first = receiver.received[0]?.seq ?? 0;
    const asked = Promise.withResolvers<void>();
    receiver.answer((_request, response) => void asked.promise.then(() => response.end()));
    await call('POST', `/webhooks/${id}/deliveries/${first + 1}/retry`);
    await receiver.count(4);
    await call('POST', `/webhooks/${id}/replay`, { from: first });
    await call('POST', `/webhooks/${id}/replay`, { from: first, to: first + 1 });
    asked.resolve();
    await webhooks.reaches(id, first + 2);
    const again = () => receiver.received.slice(3).map(({ seq }) => seq - first);
    await eventually(async () => assert.deepEqual([...new Set(again())].sort(), [0, 1, 2]));
    await webhooks.settled(id, 3);
    assert.ok(again().length <= 5, `${again()}`);
    await webhooks.remove(id);
  });

  test('concurrent retries send each change once, and only changes that the webhook subscribes to', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver((_request, response) => setTimeout(() => response.end(), 30));
    const { id } = await webhooks.add(receiver.url);
    for (let n = 0; n < 20; n++) await call('PUT', `/plants/${600 + n}`, { name: String(n) });
    await webhooks.settled(id, 20);
    const first = receiver.received[0]?.seq ?? 0;
    await webhooks.reaches(id, first + 19);
    for (let n = 0; n < 20; n++) {
      assert.equal((await call('POST', `/webhooks/${id}/deliveries/${first + n}/retry`)).status, 202);
    }
    await receiver.count(40);
    await webhooks.settled(id, 20);
    assert.equal(receiver.received.length, 40);
    await call('DELETE', '/plants/600');
    await webhooks.reaches(id, first + 20);
    assert.equal((await call('POST', `/webhooks/${id}/deliveries/${first + 20}/retry`)).status, 404);
    await webhooks.remove(id);
  });

  test('a webhook that was disabled during a replay of changes pruned since resumes with new changes', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    for (let n = 0; n < 6; n++) await call('PUT', `/plants/${700 + n}`, { name: String(n) });
    await webhooks.settled(id, 6);
    const first = receiver.received[0]?.seq ?? 0;
    receiver.answer((_request, response) => response.writeHead(410).end());
    await call('POST', `/webhooks/${id}/replay`, { from: first, to: first + 2 });
    await until(async () => (await webhooks.service.store.getWebhook(id)).disabledMs !== null);
    for (let n = 6; n < 9; n++) await call('PUT', `/plants/${700 + n}`, { name: String(n) });
    // PostgreSQL shows and prunes no change while an older transaction of any database is in progress.
    await until(async () => JSON.parse((await call('GET', `/events?after=${first + 5}`)).body).length === 3);
    await webhooks.service.store.pruneChanges(Date.now() + 1000);
    receiver.answer((_request, response) => response.end());
    await call('POST', `/webhooks/${id}/enable`);
    const before = receiver.received.length;
    await call('PUT', '/plants/709', { name: 'new' });
    await receiver.count(before + 1);
    assert.equal(receiver.received.at(-1)?.body, '{"id":709,"name":"new"}');
    await webhooks.remove(id);
  });

  test('pruning keeps changes with a pending delivery and removes delivered ones', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
    const { id } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/70', { name: 'a' });
    await until(async () => (await webhooks.deliveries(id))[0]?.attempts === 1);
    const prune = () => webhooks.service.store.pruneChanges(Date.now() + 1000);
    const waiting = (await webhooks.deliveries(id))[0]?.seq as number;
    await prune();
    const left = JSON.parse((await call('GET', '/events')).body);
    assert.equal(left[0]?.seq, waiting);
    receiver.answer((_request, response) => response.end());
    await call('POST', `/webhooks/${id}/deliveries/${waiting}/retry`);
    await webhooks.settled(id, 1);
    await webhooks.reaches(id, waiting);
    await eventually(async () => {
      await prune(); // It keeps the change while an older transaction of PostgreSQL is in progress.
      assert.deepEqual(JSON.parse((await call('GET', '/events')).body), []);
    });
    assert.deepEqual(await webhooks.deliveries(id), []);
    assert.equal((await call('POST', `/webhooks/${id}/deliveries/${waiting}/retry`)).status, 404);
    assert.equal((await call('POST', `/webhooks/${id}/replay`, { from: 1 })).status, 410);
    await call('PUT', '/plants/71', { name: 'b' });
    await webhooks.settled(id, 1);
    await webhooks.remove(id);
  });
}
