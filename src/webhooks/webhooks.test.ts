// Webhooks on the real process, over both databases: what is answered, what is sent, and what becomes of it.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { type CheckAnswer, createCheck } from '../../testing/description.ts';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { type Received, startReceiver } from '../../testing/receiver.ts';
import { type Answer, type Call, callerOf } from '../../testing/request.ts';
import { addToken, besideServer, startServer, type TestServer } from '../../testing/server.ts';
import { eventually, until } from '../../testing/until.ts';

const ALL = ['plant.created', 'plant.updated', 'plant.deleted'];
const env = { WEBHOOK_ALLOW_PRIVATE: '1' };

interface Started {
  server: TestServer;
  call: Call;
  /** Adds a webhook. */
  add(url: string, events?: string[]): Promise<{ id: string; secret: string }>;
  deliveries(id: string): Promise<Record<string, unknown>[]>;
}

async function start(databaseUrl?: string): Promise<Started> {
  const server = await startServer({ ...(databaseUrl && { databaseUrl }), env });
  const { secret } = await addToken(server.databaseUrl, { scopes: ['admin', 'plants:read', 'plants:write'] });
  const call = callerOf(server, secret);
  return {
    server,
    call,
    async add(url, events) {
      const { status, body } = await call('POST', '/webhooks', { url, events });
      assert.equal(status, 201, body);
      return JSON.parse(body);
    },
    async deliveries(id) {
      return JSON.parse((await call('GET', `/webhooks/${id}/deliveries`)).body);
    },
  };
}

function bySeq(received: Received[]): string[] {
  return received.map(({ seq, headers, body }) => `${seq} ${headers['webhook-event']} ${body}`);
}

suite('webhooks', { concurrency: true }, () => {
  for (const [name, makeUrl, options] of [
    ['SQLite', async () => undefined, {}],
    ['PostgreSQL', makeDatabase, needsPostgres],
  ] as const) {
    suite(`on ${name}`, { ...options, concurrency: 1 }, () => {
      let started: Started;
      let call: Call;
      before(async () => {
        started = await start(await makeUrl());
        call = started.call;
      });
      after(() => started.server.stop());

      test('every change it asked for is sent, in order, signed so that the public library verifies it', async () => {
        const receiver = await startReceiver();
        const { id, secret } = await started.add(receiver.url, ALL);
        await call('POST', '/plants', '{"id":9223372036854775807,"name":"Été 🌵","tag":"t"}');
        await call('PATCH', '/plants/9223372036854775807', '{"tag":null}');
        await call('DELETE', '/plants/9223372036854775807');
        await receiver.count(3);
        const first = receiver.received[0]?.seq ?? 0;
        assert.deepEqual(bySeq(receiver.received), [
          `${first} plant.created {"id":9223372036854775807,"name":"Été 🌵","tag":"t"}`,
          `${first + 1} plant.updated {"id":9223372036854775807,"name":"Été 🌵"}`,
          `${first + 2} plant.deleted {"id":9223372036854775807,"name":"Été 🌵"}`,
        ]);
        for (const { headers, body } of receiver.received) {
          new Webhook(secret).verify(body, headers as Record<string, string>);
          assert.equal(headers['content-type'], 'application/json');
        }
        const listed = await until(async () => {
          const all = await started.deliveries(id);
          return all.length === 3 && all;
        });
        assert.deepEqual(
          listed.map(({ time, ...rest }) => ({ ...rest, time: typeof time })),
          ['plant.deleted', 'plant.updated', 'plant.created'].map((event, at) => ({
            seq: first + 2 - at,
            event,
            plant: Number(9223372036854775807n), // as JSON.parse reads it
            status: 'delivered',
            attempts: 1,
            time: 'string',
            code: 200,
            answer: 'ok',
          })),
        );
        assert.match((await call('GET', `/webhooks/${id}/deliveries`)).body, /"plant":9223372036854775807,/);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('without events it is told of new plants only, and of nothing that was there before', async () => {
        const receiver = await startReceiver();
        await call('PUT', '/plants/20', { name: 'before' });
        const { id } = await started.add(receiver.url);
        await call('PUT', '/plants/20', { name: 'changed' });
        await call('PUT', '/plants/21', { name: 'new' });
        await call('DELETE', '/plants/20');
        await receiver.count(1);
        await sleep(300);
        assert.deepEqual(
          receiver.received.map(({ body }) => body),
          ['{"id":21,"name":"new"}'],
        );
        await call('DELETE', `/webhooks/${id}`);
        await sleep(100);
        await call('PUT', '/plants/22', { name: 'after' });
        await sleep(300);
        assert.equal(receiver.received.length, 1, 'it was removed');
      });

      test('a failure is tried again after 5 s with the same id; its plant waits, others do not; all of it is listed', async () => {
        let fail = true;
        const receiver = await startReceiver((_request, response, { body }) => {
          if (fail && body.includes('"id":30,')) response.writeHead(500).end('not today');
          else response.end('ok');
        });
        const { id } = await started.add(receiver.url, ALL);
        await call('PUT', '/plants/30', { name: 'a' });
        await call('PUT', '/plants/30', { name: 'b' });
        await call('PUT', '/plants/31', { name: 'c' });
        await receiver.count(2);
        const [waiting] = await until(async () => {
          const all = await started.deliveries(id);
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
            error: 'The receiver answered 500',
          },
        );
        const waitMs = Date.parse(String(next)) - Date.parse(String(time));
        assert.ok(waitMs >= 4000 && waitMs <= 6000, `${waitMs} ms`);
        fail = false;
        await receiver.count(4);
        assert.deepEqual(
          receiver.received.map(({ body }) => body.slice(-3, -2)),
          ['a', 'c', 'a', 'b'],
        );
        const [first, , again] = receiver.received as [Received, Received, Received];
        assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
        const gapMs = again.atMs - first.atMs;
        assert.ok(gapMs >= 3900 && gapMs < 9000, `${gapMs} ms`);
        await until(async () => (await started.deliveries(id)).every(({ status }) => status === 'delivered'));
        await call('DELETE', `/webhooks/${id}`);
      });

      test('410 disables it, visibly; enabled again it gets all that has come since', async () => {
        const receiver = await startReceiver((_request, response) => response.writeHead(410).end());
        const { id } = await started.add(receiver.url);
        await call('PUT', '/plants/40', { name: 'a' });
        const disabled = await until(async () => {
          const webhook = JSON.parse((await call('GET', `/webhooks/${id}`)).body);
          return webhook.status === 'disabled' && webhook;
        });
        assert.equal(disabled.reason, 'The receiver answered 410 (gone)');
        assert.ok(Date.parse(disabled.since));
        await call('PUT', '/plants/41', { name: 'b' });
        await sleep(300);
        assert.equal(receiver.received.length, 1);
        receiver.answer((_request, response) => response.end());
        const enabled = JSON.parse((await call('POST', `/webhooks/${id}/enable`)).body);
        assert.deepEqual([enabled.status, enabled.reason, enabled.since], ['active', undefined, undefined]);
        await receiver.count(3);
        assert.deepEqual(
          receiver.received.map(({ body }) => body.slice(-3, -2)),
          ['a', 'a', 'b'],
        );
        await call('DELETE', `/webhooks/${id}`);
      });

      test('while a secret is replaced both verify', async () => {
        const receiver = await startReceiver();
        const { id, secret } = await started.add(receiver.url);
        const rotated = JSON.parse((await call('POST', `/webhooks/${id}/rotate`)).body);
        assert.match(rotated.secret, /^whsec_/);
        assert.notEqual(rotated.secret, secret);
        await sleep(100);
        await call('PUT', '/plants/50', { name: 'a' });
        await receiver.count(1);
        const [{ headers, body }] = receiver.received as [Received];
        for (const one of [secret, rotated.secret]) new Webhook(one).verify(body, headers as Record<string, string>);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('what was delivered can be sent again: one of them, or a range, and then what is new', async () => {
        const receiver = await startReceiver();
        const { id } = await started.add(receiver.url);
        for (let n = 60; n < 66; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
        await receiver.count(6);
        const first = Math.min(...receiver.received.map(({ seq }) => seq)); // of different plants any may come first
        await until(async () => (await started.deliveries(id)).length === 6);
        const retried = await call('POST', `/webhooks/${id}/deliveries/${first + 1}/retry`);
        assert.equal(retried.status, 202, retried.body);
        await receiver.count(7);
        await until(async () => (await started.deliveries(id)).every(({ status }) => status === 'delivered'));
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
        await call('DELETE', `/webhooks/${id}`);
      });

      test('a receiver that was down gets everything when it is back, at once and in order', async () => {
        const receiver = await startReceiver((_request, response) => response.writeHead(503).end());
        const { id } = await started.add(receiver.url, ALL);
        for (let n = 0; n < 40; n++) await call('PUT', `/plants/${400 + (n % 8)}`, { name: String(n) });
        await receiver.count(4);
        const failing = await until(async () => {
          const webhook = JSON.parse((await call('GET', `/webhooks/${id}`)).body);
          return webhook.status === 'failing' && webhook;
        });
        assert.equal(failing.reason, 'The receiver answered 503');
        await until(async () => started.server.output().includes(`"webhook_failing","webhookId":"${id}"`));
        const before = receiver.received.length;
        receiver.answer((_request, response) => response.end());
        await until(async () => new Set(receiver.received.slice(before).map(({ seq }) => seq)).size === 40);
        const names = new Map<number, number>();
        for (const { body } of receiver.received.slice(before)) {
          const { id: plant, name } = JSON.parse(body);
          assert.ok(Number(name) > (names.get(plant) ?? -1), `${name} of plant ${plant} after ${names.get(plant)}`);
          names.set(plant, Number(name));
        }
        await until(() => started.server.output().includes('"webhook_recovered"'));
        await call('DELETE', `/webhooks/${id}`);
      });

      test('a retry and a replay at once send each change once', async () => {
        const receiver = await startReceiver();
        const { id } = await started.add(receiver.url);
        for (let n = 0; n < 3; n++) await call('PUT', `/plants/${500 + n}`, { name: String(n) });
        await until(async () => (await started.deliveries(id)).length === 3);
        const first = receiver.received[0]?.seq ?? 0;
        await call('POST', `/webhooks/${id}/deliveries/${first + 1}/retry`);
        await call('POST', `/webhooks/${id}/replay`, { from: first });
        await call('POST', `/webhooks/${id}/replay`, { from: first, to: first + 1 });
        await until(async () => {
          const { position } = JSON.parse((await call('GET', `/webhooks/${id}`)).body);
          return position >= first + 2;
        });
        const again = () => receiver.received.slice(3).map(({ seq }) => seq - first);
        await eventually(async () => assert.deepEqual([...new Set(again())].sort(), [0, 1, 2]));
        await sleep(300);
        assert.ok(again().length <= 5, `${again()}`);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('many retries at once send each change once, and only what the webhook is told of', async () => {
        const receiver = await startReceiver((_request, response) => setTimeout(() => response.end(), 30));
        const { id } = await started.add(receiver.url);
        for (let n = 0; n < 20; n++) await call('PUT', `/plants/${600 + n}`, { name: String(n) });
        await until(async () => {
          const deliveries = await started.deliveries(id);
          return deliveries.length === 20 && deliveries.every(({ status }) => status === 'delivered');
        });
        const first = receiver.received[0]?.seq ?? 0;
        const positionOf = async () => JSON.parse((await call('GET', `/webhooks/${id}`)).body).position;
        await until(async () => (await positionOf()) >= first + 19);
        for (let n = 0; n < 20; n++) {
          assert.equal((await call('POST', `/webhooks/${id}/deliveries/${first + n}/retry`)).status, 202);
        }
        await receiver.count(40);
        await until(async () => (await started.deliveries(id)).every(({ status }) => status === 'delivered'));
        assert.equal(receiver.received.length, 40);
        await call('DELETE', '/plants/600');
        await sleep(200);
        assert.equal((await call('POST', `/webhooks/${id}/deliveries/${first + 20}/retry`)).status, 404);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('one that was disabled in a replay, and whose changes were pruned then, goes on with what is new', async () => {
        const receiver = await startReceiver();
        const { id } = await started.add(receiver.url);
        for (let n = 0; n < 6; n++) await call('PUT', `/plants/${700 + n}`, { name: String(n) });
        await until(async () => (await started.deliveries(id)).length === 6);
        const first = receiver.received[0]?.seq ?? 0;
        receiver.answer((_request, response) => response.writeHead(410).end());
        await call('POST', `/webhooks/${id}/replay`, { from: first, to: first + 2 });
        await until(async () => JSON.parse((await call('GET', `/webhooks/${id}`)).body).status === 'disabled');
        for (let n = 6; n < 9; n++) await call('PUT', `/plants/${700 + n}`, { name: String(n) });
        // Nobody is shown a change, nor is it pruned, while some older transaction of the whole PostgreSQL is under way.
        await until(async () => JSON.parse((await call('GET', `/events?after=${first + 5}`)).body).length === 3);
        await besideServer(started.server.databaseUrl, (store) => store.pruneChanges(Date.now() + 1000));
        receiver.answer((_request, response) => response.end());
        await call('POST', `/webhooks/${id}/enable`);
        const before = receiver.received.length;
        await call('PUT', '/plants/709', { name: 'new' });
        await receiver.count(before + 1);
        assert.equal(receiver.received.at(-1)?.body, '{"id":709,"name":"new"}');
        await call('DELETE', `/webhooks/${id}`);
      });

      test('what a webhook still has to be given is not pruned; what it was given is', async () => {
        const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
        const { id } = await started.add(receiver.url);
        await call('PUT', '/plants/70', { name: 'a' });
        await until(async () => (await started.deliveries(id))[0]?.attempts === 1);
        const prune = () => besideServer(started.server.databaseUrl, (store) => store.pruneChanges(Date.now() + 1000));
        const waiting = (await started.deliveries(id))[0]?.seq as number;
        await prune();
        const left = JSON.parse((await call('GET', '/events')).body);
        assert.equal(left[0]?.seq, waiting);
        receiver.answer((_request, response) => response.end());
        await call('POST', `/webhooks/${id}/deliveries/${waiting}/retry`);
        await until(async () => (await started.deliveries(id))[0]?.status === 'delivered');
        await eventually(async () => {
          await prune(); // which spares it until its position is recorded
          assert.deepEqual(JSON.parse((await call('GET', '/events')).body), []);
        });
        assert.deepEqual(await started.deliveries(id), []);
        assert.equal((await call('POST', `/webhooks/${id}/deliveries/${waiting}/retry`)).status, 404);
        assert.equal((await call('POST', `/webhooks/${id}/replay`, { from: 1 })).status, 410);
        await call('PUT', '/plants/71', { name: 'b' });
        await until(async () => (await started.deliveries(id)).length === 1);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('deliveries are listed page by page, newest first, and by status', async () => {
        const receiver = await startReceiver();
        const { id } = await started.add(receiver.url);
        for (let n = 80; n < 85; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
        await until(async () => (await started.deliveries(id)).length === 5);
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
        await call('DELETE', `/webhooks/${id}`);
      });

      test('a message can be sent for a test, and the answer is told', async () => {
        const receiver = await startReceiver((_request, response) => response.writeHead(401).end('who are you?'));
        const { id, secret } = await started.add(receiver.url);
        const { milliseconds, ...result } = JSON.parse((await call('POST', `/webhooks/${id}/test`)).body);
        assert.deepEqual(result, {
          delivered: false,
          code: 401,
          answer: 'who are you?',
          error: 'The receiver answered 401',
        });
        assert.ok(milliseconds >= 0);
        const [{ headers, body }] = receiver.received as [Received];
        assert.equal(headers['webhook-event'], 'webhook.test');
        new Webhook(secret).verify(body, headers as Record<string, string>);
        assert.deepEqual(await started.deliveries(id), []);
        await call('DELETE', `/webhooks/${id}`);
      });

      test('/metrics counts deliveries and tells how long the oldest has waited', async () => {
        const figure = async (name: string) => {
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
        const failed = await figure('plant_store_deliveries_total{result="failed"}');
        const { id } = await started.add(receiver.url);
        await call('PUT', '/plants/90', { name: 'a' });
        await until(async () => (await figure('plant_store_deliveries_total{result="failed"}')) === failed + 1);
        await until(async () => (await figure('plant_store_oldest_waiting_delivery_seconds')) > 0.5);
        assert.equal(await figure('plant_store_webhooks{status="failing"}'), 1);
        await call('DELETE', `/webhooks/${id}`);
        await until(async () => (await figure('plant_store_oldest_waiting_delivery_seconds')) === 0);
      });

      test('it goes on after a clean stop where it was, and sends nothing twice', async () => {
        const receiver = await startReceiver();
        const { id } = await started.add(receiver.url);
        for (let n = 100; n < 150; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
        await receiver.count(50);
        assert.equal(await started.server.stop(), 0);
        started = await start(started.server.databaseUrl);
        call = started.call;
        for (let n = 150; n < 160; n++) await call('PUT', `/plants/${n}`, { name: String(n) });
        await receiver.count(60);
        await sleep(300);
        assert.equal(new Set(receiver.received.map(({ seq }) => seq)).size, 60);
        assert.equal(receiver.received.length, 60);
        await call('DELETE', `/webhooks/${id}`);
      });
    });
  }
});

suite('both databases', needsPostgres, () => {
  test('give the same answers, byte for byte, and as the description says', async () => {
    const both = await Promise.all([start(), start(await makeDatabase())]);
    const checks = await Promise.all(both.map(({ server }) => createCheck(server.port)));
    const receiver = await startReceiver();
    const transcripts = await Promise.all(
      both.map(({ call, server }, at) => play(call, checks[at] as CheckAnswer, server, receiver.url)),
    );
    assert.ok((transcripts[0]?.length ?? 0) > 30);
    assert.deepEqual(transcripts[1], transcripts[0]);
    await Promise.all(both.map(({ server }) => server.stop()));
  });
});

/** What is made by chance, or by the clock, is masked. */
async function play(call: Call, check: CheckAnswer, server: TestServer, url: string): Promise<string[]> {
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
        .replace(/"milliseconds":\d+/, 'MS'),
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
  await until(async () => JSON.parse((await call('GET', `/webhooks/${id}/deliveries`)).body).length === 2);
  await until(async () => JSON.parse((await call('GET', `/webhooks/${id}`)).body).position === 2);
  await ask('GET', '/webhooks', 200);
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
  await ask('DELETE', '/webhooks/ID', 204);
  await ask('GET', '/webhooks', 200);

  const weak = callerOf(server, server.secret);
  for (const [method, path] of [
    ['GET', '/webhooks'],
    ['POST', '/webhooks'],
    ['DELETE', `/webhooks/${id}`],
    ['POST', `/webhooks/${id}/test`],
    ['GET', `/webhooks/${id}/deliveries`],
    ['GET', '/metrics'],
  ] as const) {
    const answer = await weak(method, path);
    assert.equal(answer.status, 403, `${method} ${path}`);
    assert.match(String(answer.headers['www-authenticate']), /scope="admin( plants:read)?"$/);
    const { status } = await callerOf(server, 'pst_wrong')(method, path);
    assert.equal(status, 401, `${method} ${path}`);
  }
  return lines;
}
