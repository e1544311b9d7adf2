// Changes to a webhook that delivers, and the details of its deliveries, on each database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { printAttempt } from '../src/domain/attempt-log.ts';
import type { Delivery, DeliveryDetail } from '../src/domain/delivery.ts';
import { type Received, startReceiver } from './receiver.ts';
import { callerOf } from './request.ts';
import { eventually, until } from './until.ts';
import { ALL_EVENTS, type WebhookService } from './webhook-service.ts';

export function changingCases(started: () => WebhookService): void {
  test('a webhook with the format event sends signed events that contain the change', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const wanted = { url: receiver.url, events: ALL_EVENTS, format: 'event', name: 'Shop' };
    const added = JSON.parse((await call('POST', '/webhooks', wanted)).body);
    assert.deepEqual([added.format, added.name], ['event', 'Shop']);
    await call('PUT', '/plants/9223372036854775806', '{"name":"Été","tag":"t"}');
    await call('DELETE', '/plants/9223372036854775806');
    await receiver.count(2);
    const after = (receiver.received[0]?.seq ?? 0) - 1;
    const changes = (await call('GET', `/events?after=${after}&limit=2`)).body
      .slice(1, -1)
      .replace('},{"seq"', '}\n{"seq"');
    const expected = changes.split('\n').map((change) => {
      const { type, time } = JSON.parse(change);
      return `{"type":"${type}","timestamp":"${time}","data":${change.replace(/,"tokenName":"[^"]*"/, '')}}`;
    });
    assert.deepEqual(
      receiver.received.map(({ body }) => body),
      expected,
    );
    for (const { headers, body } of receiver.received) {
      new Webhook(added.secret).verify(body, headers as Record<string, string>);
      const other = body.replace('"type":"plant.', '"type":"fish.');
      assert.throws(() => new Webhook(added.secret).verify(other, headers as Record<string, string>));
    }
    await call('POST', `/webhooks/${added.id}/test`);
    const { headers, body } = receiver.received[2] as Received;
    new Webhook(added.secret).verify(body, headers as Record<string, string>);
    const { type, timestamp, data } = JSON.parse(body);
    assert.deepEqual([type, data.type, data.seq, data.plant.id], ['webhook.test', 'webhook.test', 0, 0]);
    assert.equal(timestamp, data.time);
    await webhooks.remove(added.id);
  });

  test('a change of the URL during deliveries loses no change and keeps the order of each plant', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const [first, second] = [await startReceiver(), await startReceiver()];
    first.answer((_request, response) => setTimeout(() => response.end(), 20));
    const { id } = await webhooks.add(first.url, ALL_EVENTS);
    const write = async (from: number) => {
      for (let n = from; n < from + 30; n++) await call('PUT', `/plants/${1000 + (n % 5)}`, { name: String(n) });
    };
    await write(0);
    const writing = write(30);
    await first.count(10);
    const patched = await call('PATCH', `/webhooks/${id}`, { url: second.url });
    assert.equal(JSON.parse(patched.body).url, second.url, patched.body);
    await writing;
    const received = () => [...first.received, ...second.received];
    await eventually(async () => assert.equal(new Set(received().map(({ seq }) => seq)).size, 60));
    await until(async () => second.received.length > 0);
    const sent = first.received.length;
    for (const { received } of [first, second]) assertOrdered(received);
    await write(60);
    await eventually(async () => assert.equal(new Set(received().map(({ seq }) => seq)).size, 90));
    assert.equal(first.received.length, sent, 'nothing more is sent to the old URL');
    await webhooks.remove(id);
  });

  test('a new URL ends the wait after failures, and ignores a late 410 of the old receiver', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const held = Promise.withResolvers<void>();
    const first = await startReceiver((_request, response, { body }) => {
      if (body.includes('"id":1100,')) response.writeHead(500).end();
      else void held.promise.then(() => response.writeHead(410).end());
    });
    const second = await startReceiver();
    const { id } = await webhooks.add(first.url);
    await call('PUT', '/plants/1100', { name: 'a' });
    await until(async () => (await webhooks.get(id)).status === 'failing');
    await call('PUT', '/plants/1101', { name: 'b' });
    await first.count(2);
    const patched = JSON.parse((await call('PATCH', `/webhooks/${id}`, { url: second.url })).body);
    assert.deepEqual([patched.status, patched.reason], ['active', undefined]);
    held.resolve();
    await second.count(2); // The clock does not advance: the retry is due at once.
    await webhooks.settled(id, 2);
    assert.equal((await webhooks.get(id)).status, 'active');
    await webhooks.remove(id);
  });

  test('new events apply to every change after the patch, also while others are delivered', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    const deleted: number[] = [];
    for (let n = 0; n < 40; n++) {
      await call('PUT', `/plants/${1200 + n}`, { name: 'x' });
      if (n === 20) {
        const { status } = await call('PATCH', `/webhooks/${id}`, { events: ['plant.created', 'plant.deleted'] });
        assert.equal(status, 200);
      }
      const { status } = await call('DELETE', `/plants/${1200 + n}`);
      assert.equal(status, 204);
      if (n >= 20) deleted.push(1200 + n);
    }
    const gone = () => received('plant.deleted').filter((plant) => plant >= 1220);
    const received = (event: string) =>
      receiver.received
        .filter(({ headers }) => headers['webhook-event'] === event)
        .map(({ body }) => JSON.parse(body).id);
    await eventually(async () => {
      assert.deepEqual([...new Set(gone())].sort(), deleted);
      assert.equal(new Set(received('plant.created')).size, 40);
    });
    await call('PATCH', `/webhooks/${id}`, { events: ['plant.updated'] });
    await call('PUT', '/plants/1250', { name: 'a' });
    await call('PUT', '/plants/1250', { name: 'b' });
    await until(() => received('plant.updated').includes(1250));
    assert.ok(!received('plant.created').includes(1250));
    await webhooks.remove(id);
  });

  test('a webhook that a user disables sends nothing until it is enabled; a delivery of an old event can be retried', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/1300', { name: 'a' });
    await webhooks.settled(id, 1);
    const seq = receiver.received[0]?.seq ?? 0;
    await webhooks.reaches(id, seq);
    const disabled = JSON.parse((await call('PATCH', `/webhooks/${id}`, { enabled: false })).body);
    assert.deepEqual([disabled.status, disabled.reason], ['disabled', 'A user disabled the webhook']);
    assert.ok(Date.parse(disabled.since));
    assert.deepEqual(JSON.parse((await call('PATCH', `/webhooks/${id}`, { enabled: false })).body), disabled);
    await call('PUT', '/plants/1301', { name: 'b' });
    const other = await startReceiver();
    const { id: otherId } = await webhooks.add(other.url);
    await call('PUT', '/plants/1302', { name: 'c' });
    await other.count(1);
    await webhooks.remove(otherId);
    assert.equal(receiver.received.length, 1);
    const enabled = JSON.parse((await call('PATCH', `/webhooks/${id}`, { enabled: true })).body);
    assert.deepEqual([enabled.status, enabled.reason, enabled.since], ['active', undefined, undefined]);
    await receiver.count(3);
    await webhooks.settled(id, 3);
    await call('PATCH', `/webhooks/${id}`, { events: ['plant.deleted'] });
    assert.equal((await call('POST', `/webhooks/${id}/deliveries/${seq}/retry`)).status, 202);
    await receiver.count(4);
    assert.equal(receiver.received[3]?.seq, seq);
    await webhooks.remove(id);
  });

  test('a delivery shows its request as sent and each attempt, also after a rotation and a change of the format', async () => {
    const webhooks = started();
    const { call } = webhooks;
    let fail = true;
    const receiver = await startReceiver((_request, response) => {
      if (fail) response.writeHead(500).end('not "today"\n');
      else response.end('é'.repeat(600));
    });
    const { id, secret } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/9223372036854775805', { name: 'a' });
    await receiver.count(1);
    const seq = receiver.received[0]?.seq ?? 0;
    const path = `/webhooks/${id}/deliveries/${seq}`;
    const get = async (): Promise<DeliveryDetail> => JSON.parse((await call('GET', path)).body);
    const failed = await until(async () => {
      const { status, body } = await call('GET', path);
      return status === 200 && JSON.parse(body).history.length === 1 && (JSON.parse(body) as DeliveryDetail);
    });
    assertSent(failed, receiver.received[0] as Received);
    assert.equal(failed.request?.body, '{"id":9223372036854775805,"name":"a"}');
    const { time, milliseconds, ...attempt } = failed.history[0] ?? { time: '', milliseconds: -1 };
    const error = 'The receiver responded with status 500';
    assert.deepEqual(attempt, { code: 500, answer: 'not "today"\n', error });
    assert.ok(milliseconds >= 0);
    assert.deepEqual([failed.status, failed.attempts, typeof failed.next], ['waiting', 1, 'string']);
    const waitMs = Date.parse(failed.next ?? '') - Date.parse(time);
    assert.ok(waitMs >= 4000 && waitMs <= 7000, `${waitMs} ms`);

    const { secret: newSecret } = JSON.parse((await call('POST', `/webhooks/${id}/rotate`)).body);
    await call('PATCH', `/webhooks/${id}`, { format: 'event' });
    fail = false;
    assert.deepEqual((await get()).request, failed.request, 'the first request is still shown as it was sent');
    let plants = 1350; // Enough until the server uses the new format.
    await until(async () => {
      await call('PUT', `/plants/${plants++}`, { name: 'b' });
      return receiver.received.at(-1)?.body.startsWith('{"type"');
    });
    webhooks.clock.pass(7000);
    const delivered = await until(async () => {
      const detail = await get();
      return detail.status === 'delivered' && detail;
    });
    const [, again] = receiver.received.filter((one) => one.seq === seq);
    assertSent(delivered, again as Received);
    assert.deepEqual(
      delivered.history.map(({ code }) => code),
      [200, 500],
    );
    assert.deepEqual(delivered.history[1], failed.history[0]);
    assert.equal(delivered.history[0]?.answer?.length, 512);
    assert.equal(delivered.next, undefined);
    const { headers = {}, body = '' } = delivered.request ?? {};
    for (const one of [secret, newSecret]) new Webhook(one).verify(body, headers);
    const weak = callerOf(webhooks.service, (await webhooks.service.addToken({ scopes: ['admin'] })).secret);
    const refused = await weak('GET', path);
    assert.equal(refused.status, 403, refused.body);
    await webhooks.remove(id);
    assert.equal((await call('GET', path)).status, 404);
  });

  test('a delivery keeps its newest 10 attempts, and fewer if their responses need much space', async () => {
    const webhooks = started();
    const { call, service } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    const sent = { format: 'plant', signature: 'v1,AAAA', userAgent: 'x', durationMs: 1.4 } as const;
    for (const [plantId, character, expected] of [
      [1400n, 'é', [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]],
      [1401n, '\x01', [12, 11]],
    ] as const) {
      await call('PUT', `/plants/${plantId}`, { name: 'x' });
      const [{ seq }] = await until(async () => {
        const listed = await service.store.listDeliveries(id, { limit: 1, status: 'delivered' });
        return listed[0]?.plant === plantId && (listed as [Delivery]);
      });
      const answer = character.repeat(1024);
      const state = { id, epoch: -1, position: 0, failing: null, disabledMs: null };
      const record = {
        seq,
        plantId,
        status: 'delivered',
        attempts: 1,
        dueMs: 0,
        timeMs: 0,
        code: 200,
        error: null,
      } as const;
      for (const timeMs of [1, 2, 3, 4, 5, 6, 7, 7, 8, 9, 10, 11, 12]) {
        // One is saved twice.
        const attemptLog = printAttempt({ ...sent, timeMs, code: 200, answer });
        const records = [{ ...record, answer, attemptLog }];
        await service.store.recordDeliveries('another node', [{ ...state, records }]);
      }
      const { history }: DeliveryDetail = JSON.parse((await call('GET', `/webhooks/${id}/deliveries/${seq}`)).body);
      assert.deepEqual(
        history.map(({ time }) => Date.parse(time)),
        expected,
      );
      for (const one of history) assert.ok(one.answer === answer && one.milliseconds === 1 && one.code === 200);
    }
    await webhooks.remove(id);
  });
}

/** Asserts that the changes of each plant arrived in order, except for those that were sent again. */
function assertOrdered(received: Received[]): void {
  const newest = new Map<string, number>();
  const seen = new Set<number>();
  for (const { seq, body } of received) {
    const plant = String(JSON.parse(body).id);
    if (!seen.has(seq))
      assert.ok(seq > (newest.get(plant) ?? 0), `${seq} of plant ${plant} after ${newest.get(plant)}`);
    seen.add(seq);
    newest.set(plant, Math.max(seq, newest.get(plant) ?? 0));
  }
}

/** Asserts that the delivery shows the request that the receiver got. Node itself adds `host` and `connection`. */
function assertSent({ request }: DeliveryDetail, { headers, body }: Received): void {
  const { host: _, connection: _other, ...own } = headers;
  assert.deepEqual(request, { headers: own, body });
}
