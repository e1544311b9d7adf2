// The API of webhooks, on each database.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { CheckAnswer } from './description.ts';
import { type Received, startReceiver } from './receiver.ts';
import { type Answer, callerOf } from './request.ts';
import { until } from './until.ts';
import type { WebhookService } from './webhook-service.ts';

export function apiCases(started: () => WebhookService): void {
  test('deliveries are listed in pages, newest first, and can be filtered by status', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver();
    const { id } = await webhooks.add(receiver.url);
    for (let n = 80; n < 85; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
    await webhooks.settled(id, 5);
    const seqs: number[] = [];
    for (let path = `/webhooks/${id}/deliveries?limit=2&status=delivered`; ; ) {
      const { body, headers } = await call('GET', path);
      seqs.push(...JSON.parse(body).map(({ seq }: { seq: number }) => seq));
      const next = /^<(.+)>; rel="next"$/.exec(String(headers.link ?? ''))?.[1];
      if (!next) break;
      path = next;
    }
    assert.equal(seqs.length, 5);
    assert.deepEqual(
      seqs,
      [...seqs].sort((a, b) => b - a),
    );
    assert.deepEqual((await call('GET', `/webhooks/${id}/deliveries?status=dead`)).body, '[]');
    await webhooks.remove(id);
  });

  test("a test message is sent, and the API returns the receiver's response", async () => {
    const webhooks = started();
    const { call } = webhooks;
    const receiver = await startReceiver((_request, response) => response.writeHead(401).end('who are you?'));
    const { id, secret } = await webhooks.add(receiver.url);
    const { milliseconds, ...result } = JSON.parse((await call('POST', `/webhooks/${id}/test`)).body);
    assert.deepEqual(result, {
      delivered: false,
      code: 401,
      answer: 'who are you?',
      error: 'The receiver responded with status 401',
    });
    assert.ok(milliseconds >= 0);
    const [{ headers, body }] = receiver.received as [Received];
    assert.equal(headers['webhook-event'], 'webhook.test');
    new Webhook(secret).verify(body, headers as Record<string, string>);
    assert.deepEqual(await webhooks.deliveries(id), []);
    await webhooks.remove(id);
  });

  test('/metrics counts deliveries and reports the age of the oldest pending one', async () => {
    const webhooks = started();
    const { call } = webhooks;
    const metric = async (name: string) => {
      const { status, headers, body } = await call('GET', '/metrics');
      assert.equal(status, 200);
      assert.match(String(headers['content-type']), /^text\/plain; version=0\.0\.4/);
      return Number(
        body
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.slice(name.length + 1),
      );
    };
    const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
    const failed = await metric('plant_store_deliveries_total{result="failed"}');
    const { id } = await webhooks.add(receiver.url);
    await call('PUT', '/plants/90', { name: 'a' });
    await until(async () => (await metric('plant_store_deliveries_total{result="failed"}')) === failed + 1);
    await until(async () => (await metric('plant_store_oldest_waiting_delivery_seconds')) > 0.5);
    assert.equal(await metric('plant_store_webhooks{status="failing"}'), 1);
    await webhooks.remove(id);
    await until(async () => (await metric('plant_store_oldest_waiting_delivery_seconds')) === 0);
  });
}

const MALFORMED_PATCHES = [
  '[]',
  'null',
  '',
  '{"url":5}',
  '{"url":null}',
  '{"url":"ftp://example.com/"}',
  '{"url":"https://240.0.0.1/"}',
  '{"events":[]}',
  '{"events":null}',
  '{"events":["plant.eaten"]}',
  '{"format":"xml"}',
  '{"format":null}',
  '{"name":""}',
  '{"name":" "}',
  '{"name":"a\\tb"}',
  '{"enabled":"true"}',
  '{"enabled":null}',
  '{"secret":"whsec_AAAA"}',
  '{"id":"whk_1","position":0}',
];

/** Returns a line for each request and its response. Random values and times are masked. */
export async function playRequests(webhooks: WebhookService, check: CheckAnswer, url: string): Promise<string[]> {
  const { service, call, reaches } = webhooks;
  const lines: string[] = [];
  let id = 'whk_none';
  const ask = async (method: string, path: string, expected: number, body?: unknown): Promise<Answer> => {
    const answer = await call(method, path.replace('ID', id), body);
    assert.equal(answer.status, expected, `${method} ${path}: ${answer.body}`);
    check(method, path.replace('ID', id), answer);
    const { 'content-type': type, location, link, 'cache-control': cache } = answer.headers;
    lines.push(
      `${method} ${path} ${answer.status} ${type} ${location} ${link} ${cache} ${answer.body}`
        .replaceAll(id === 'whk_none' ? /whk_[0-9A-Za-z]{12}/g : id, 'WEBHOOK')
        .replace(/whsec_[^"]+/g, 'SECRET')
        .replace(/"\d{4}-[^"]+Z"/g, 'TIME')
        .replace(/"milliseconds":\d+/g, 'MS')
        .replace(/"webhook-timestamp":"\d+"/, 'TIMESTAMP')
        .replace(/v1,[0-9A-Za-z+/=]+/g, 'SIGNATURE')
        .replace(id.replace('whk_', 'msg_'), 'MESSAGE'),
    );
    return answer;
  };
  for (const [body, status] of [
    ['{}', 400],
    ['[]', 400],
    ['{"url":5}', 400],
    ['{"url":"https://example.com","events":[]}', 400],
    ['{"url":"https://example.com","events":["plant.eaten"]}', 400],
    ['{"url":"https://example.com","events":"plant.created"}', 400],
    ['{"url":"http://example.com:1/"', 400],
    ['{"url":"ftp://example.com/"}', 400],
    ['{"url":"https://u:p@example.com/"}', 400],
    ['{"url":"https://example.com","format":"xml"}', 400],
    ['{"url":"https://example.com","format":null}', 400],
    ['{"url":"https://example.com","name":""}', 400],
    ['{"url":"https://example.com","name":"a\\nb"}', 400],
    ['{"url":"https://example.com","name":null}', 400],
    ['{"url":"https://example.com","enabled":false}', 400],
  ] as const) {
    await ask('POST', '/webhooks', status, body);
  }
  await ask('GET', '/webhooks', 200);
  await ask('GET', '/webhooks/ID', 404);
  for (const path of ['whk_', 'x', '%00', 'whk_%00', '1']) await ask('GET', `/webhooks/${path}`, 400);
  await ask('GET', '/webhooks/', 404);
  for (const path of ['/rotate', '/enable', '/test', '/deliveries/1/retry'])
    await ask('POST', `/webhooks/ID${path}`, 404);
  await ask('POST', '/webhooks/ID/replay', 404, { from: 1 });
  await ask('GET', '/webhooks/ID/deliveries', 404);
  await ask('GET', '/webhooks/ID/deliveries/1', 404);
  await ask('PATCH', '/webhooks/ID', 404, {});
  await ask('PATCH', '/webhooks/ID', 404, { name: 'x' });
  await ask('DELETE', '/webhooks/ID', 404);
  await ask('PUT', '/webhooks/ID', 405);
  await ask('GET', '/webhooks/ID/rotate', 405);
  const added = await ask('POST', '/webhooks', 201, {
    url,
    events: ['plant.deleted', 'plant.created', 'plant.deleted'],
  });
  id = JSON.parse(added.body).id;
  await ask('GET', '/webhooks/ID', 200);
  await call('PUT', '/plants/1', { name: 'a' });
  await call('DELETE', '/plants/1');
  await webhooks.settled(id, 2);
  await reaches(id, 2);
  await ask('GET', '/webhooks', 200);
  await ask('GET', '/webhooks/ID/deliveries/1', 200);
  await ask('GET', '/webhooks/ID/deliveries/3', 404);
  await ask('GET', '/webhooks/ID/deliveries/x', 400);
  await ask('GET', '/webhooks/ID/deliveries?limit=1', 200);
  await ask('GET', '/webhooks/ID/deliveries?before=2', 200);
  await ask('GET', '/webhooks/ID/deliveries?status=delivered', 200);
  for (const query of ['status=x', 'limit=0', 'before=x', 'before=-1']) {
    await ask('GET', `/webhooks/ID/deliveries?${query}`, 400);
  }
  for (const body of [{}, { from: 0 }, { from: 'x' }, { from: 2, to: 1 }, { from: 1.5 }, { from: 3 }]) {
    await ask('POST', '/webhooks/ID/replay', 400, body);
  }
  await ask('POST', '/webhooks/ID/deliveries/x/retry', 400);
  await ask('POST', '/webhooks/ID/deliveries/0/retry', 404);
  await ask('POST', '/webhooks/ID/deliveries/99/retry', 404);
  await ask('POST', '/webhooks/ID/rotate', 200);
  await ask('POST', '/webhooks/ID/enable', 200);
  await ask('POST', '/webhooks/ID/test', 200);
  for (const body of MALFORMED_PATCHES) await ask('PATCH', '/webhooks/ID', 400, body);
  await ask('PATCH', '/webhooks/ID', 200, {});
  await ask('PATCH', '/webhooks/ID', 200, { name: 'Été 🌵', format: 'event' });
  await ask('PATCH', '/webhooks/ID', 200, { events: ['plant.updated', 'plant.updated'], url: `${url}?new` });
  await ask('PATCH', '/webhooks/ID', 200, { enabled: false, name: null });
  await ask('POST', '/webhooks/ID/deliveries/1/retry', 202);
  await ask('GET', '/webhooks/ID/deliveries/1', 200);
  await ask('PATCH', '/webhooks/ID', 200, { url });
  await ask('GET', '/webhooks/ID', 200);
  await ask('POST', '/webhooks/ID/test', 200);
  await ask('PATCH', '/webhooks/ID', 200, { enabled: true, format: 'plant', events: ['plant.created'] });
  await webhooks.settled(id, 2);
  await ask('GET', '/webhooks/ID/deliveries/1', 200);
  await ask('DELETE', '/webhooks/ID', 204);
  await ask('GET', '/webhooks', 200);

  const weak = callerOf(service, service.secret);
  for (const [method, path] of [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['PATCH', `/webhooks/${id}`],
    ['DELETE', `/webhooks/${id}`],
    ['GET', `/webhooks/${id}/deliveries/1`],
    ['POST', `/webhooks/${id}/test`],
    ['GET', `/webhooks/${id}/deliveries`],
    ['GET', '/metrics'],
  ] as const) {
    const answer = await weak(method, path);
    assert.equal(answer.status, 403, `${method} ${path}`);
    assert.match(String(answer.headers['www-authenticate']), /scope="admin( plants:read)?"$/);
    const { status } = await callerOf(service, 'pst_wrong')(method, path);
    assert.equal(status, 401, `${method} ${path}`);
  }
  return lines;
}
