// The requests that webhooks send, on each database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { type Received, startReceiver } from './receiver.ts';
import { until } from './until.ts';
import { ALL_EVENTS, type WebhookService } from './webhook-service.ts';

export function sendingCases(started: () => WebhookService): void {
  test('a webhook receives every subscribed change in order, and the standardwebhooks library verifies the signatures', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id, secret } = await webhooks.add(receiver.url, ALL_EVENTS);
    await call('POST', '/plants', '{"id":9223372036854775807,"name":"Été 🌵","tag":"t"}');
    await call('PATCH', '/plants/9223372036854775807', '{"tag":null}');
    await call('DELETE', '/plants/9223372036854775807');
    await receiver.count(3);
    const first = receiver.received[0]?.seq ?? 0;
    assert.deepEqual(toLines(receiver.received), [
      `${first} plant.created {"id":9223372036854775807,"name":"Été 🌵","tag":"t"}`,
      `${first + 1} plant.updated {"id":9223372036854775807,"name":"Été 🌵"}`,
      `${first + 2} plant.deleted {"id":9223372036854775807,"name":"Été 🌵"}`,
    ]);
    for (const { headers, body } of receiver.received) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      assert.equal(headers['content-type'], 'application/json');
    }
    await webhooks.settled(id, 3);
    const listed = await webhooks.deliveries(id);
    assert.deepEqual(
      listed.map(({ time, ...rest }) => ({ ...rest, time: typeof time })),
      ['plant.deleted', 'plant.updated', 'plant.created'].map((event, at) => ({
        seq: first + 2 - at,
        event,
        plant: Number(9223372036854775807n), // The value that JSON.parse returns.
        status: 'delivered',
        attempts: 1,
        time: 'string',
        code: 200,
        answer: 'ok',
      })),
    );
    assert.match((await call('GET', `/webhooks/${id}/deliveries`)).body, /"plant":9223372036854775807,/);
    await webhooks.remove(id);
  });

  test('a webhook without events receives only new plants, and no earlier changes', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    await call('PUT', '/plants/20', { name: 'before' });
    const { id } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/20', { name: 'changed' });
    await call('PUT', '/plants/21', { name: 'new' });
    await call('DELETE', '/plants/20');
    await call('PUT', '/plants/22', { name: 'last' });
    await receiver.count(2);
    assert.deepEqual(receiver.received.map(({ body }) => body).sort(), [
      '{"id":21,"name":"new"}',
      '{"id":22,"name":"last"}',
    ]);
    await webhooks.remove(id);
    const other = await webhooks.add(`${receiver.url}/other`); // The server finds both at its next reload.
    await call('PUT', '/plants/23', { name: 'meanwhile' });
    await webhooks.settled(other.id, 1);
    await call('PUT', '/plants/24', { name: 'after' });
    await webhooks.settled(other.id, 2);
    const after = receiver.received.filter(({ body }) => body === '{"id":24,"name":"after"}');
    assert.deepEqual(
      after.map(({ path }) => path),
      ['/hook/other'],
    );
    await webhooks.remove(other.id);
  });

  test('a failed delivery is retried after 5 s with the same id and delays only its own plant; all deliveries are listed', async () => {
    const webhooks = started();
    const { call } = webhooks;
    let fail = true;
    const receiver = await startReceiver((_request, response, { body }) => {
      if (fail && body.includes('"id":30,')) response.writeHead(500).end('not today');
      else response.end('ok');
    });
    const { id } = await webhooks.add(receiver.url, ALL_EVENTS);
    await call('PUT', '/plants/30', { name: 'a' });
    await call('PUT', '/plants/30', { name: 'b' });
    await call('PUT', '/plants/31', { name: 'c' });
    await receiver.count(2);
    const [waiting] = await until(async () => {
      const all = await webhooks.deliveries(id);
      return all.length === 3 && all[0]?.status === 'delivered' && all.slice(1).reverse();
    });
    const { next, time, ...rest } = waiting ?? {};
    assert.deepEqual(
      { ...rest, seq: 0 },
      {
        seq: 0,
        event: 'plant.created',
        plant: 30,
        status: 'waiting',
        attempts: 1,
        code: 500,
        answer: 'not today',
        error: 'The receiver responded with status 500',
      },
    );
    const waitMs = Date.parse(String(next)) - Date.parse(String(time));
    assert.ok(waitMs >= 4000 && waitMs <= 6000, `${waitMs} ms`);
    fail = false;
    webhooks.clock.pass(waitMs);
    await receiver.count(4);
    assert.deepEqual(
      receiver.received.map(({ body }) => body.slice(-3, -2)),
      ['a', 'c', 'a', 'b'],
    );
    const [first, , again] = receiver.received as [Received, Received, Received];
    assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
    await webhooks.settled(id, 3);
    await webhooks.remove(id);
  });

  test('a response 410 disables a webhook; after it is enabled, it receives all changes since', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver((_request, response) => response.writeHead(410).end());
    const { id } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/40', { name: 'a' });
    const disabled = await until(async () => {
      const webhook = await webhooks.get(id);
      return webhook.status === 'disabled' && webhook;
    });
    assert.equal(disabled.reason, 'The receiver responded with status 410 (gone)');
    assert.ok(Date.parse(disabled.since ?? ''));
    const other = await startReceiver();
    const { id: otherId } = await webhooks.add(other.url);
    await call('PUT', '/plants/41', { name: 'b' });
    await other.count(1);
    assert.equal(receiver.received.length, 1, 'nothing more is sent');
    await webhooks.remove(otherId);
    receiver.answer((_request, response) => response.end());
    const enabled = JSON.parse((await call('POST', `/webhooks/${id}/enable`)).body);
    assert.deepEqual([enabled.status, enabled.reason, enabled.since], ['active', undefined, undefined]);
    await receiver.count(3);
    assert.deepEqual(
      receiver.received.map(({ body }) => body.slice(-3, -2)),
      ['a', 'a', 'b'],
    );
    await webhooks.remove(id);
  });

  test('after a rotation, both the old and the new secret verify', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id, secret } = await webhooks.add(receiver.url);
    const rotated = JSON.parse((await call('POST', `/webhooks/${id}/rotate`)).body);
    assert.match(rotated.secret, /^whsec_/);
    assert.notEqual(rotated.secret, secret);
    let plants = 50; // Enough until the server uses the new secret.
    await until(async () => {
      await call('PUT', `/plants/${plants++}`, { name: 'a' });
      return String(receiver.received.at(-1)?.headers['webhook-signature']).includes(' ');
    });
    const { headers, body } = receiver.received.at(-1) as Received;
    for (const one of [secret, rotated.secret]) new Webhook(one).verify(body, headers as Record<string, string>);
    await webhooks.remove(id);
  });

  test('a receiver that was down receives all changes in order after it recovers', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver((_request, response) => response.writeHead(503).end());
    const { id } = await webhooks.add(receiver.url, ALL_EVENTS);
    for (let n = 0; n < 40; n++) await call('PUT', `/plants/${400 + (n % 8)}`, { name: String(n) });
    await receiver.count(4);
    const failing = await until(async () => {
      const webhook = await webhooks.get(id);
      return webhook.status === 'failing' && webhook;
    });
    assert.equal(failing.reason, 'The receiver responded with status 503');
    await until(() => reported(webhooks, 'webhook_failing', id));
    const before = receiver.received.length;
    receiver.answer((_request, response) => response.end());
    webhooks.clock.pass(6000);
    await until(async () => new Set(receiver.received.slice(before).map(({ seq }) => seq)).size === 40);
    const names = new Map<number, number>();
    for (const { body } of receiver.received.slice(before)) {
      const { id: plant, name } = JSON.parse(body);
      assert.ok(Number(name) > (names.get(plant) ?? -1), `${name} of plant ${plant} after ${names.get(plant)}`);
      names.set(plant, Number(name));
    }
    await until(() => reported(webhooks, 'webhook_recovered', id));
    await webhooks.remove(id);
  });
}

function toLines(received: Received[]): string[] {
  return received.map(({ seq, headers, body }) => `${seq} ${headers['webhook-event']} ${body}`);
}

function reported({ service }: WebhookService, kind: string, webhookId: string): boolean {
  return service.events.some((event) => event.kind === kind && 'webhookId' in event && event.webhookId === webhookId);
}
