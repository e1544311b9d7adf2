// Tests the client's requests against servers and networks that fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  answer,
  begin,
  drop,
  type Handle,
  hang,
  quickClient,
  RECORD,
  rejects,
  serveInTurn,
} from '../../testing/scripted-server.ts';
import { until } from '../../testing/until.ts';
import type { ErrorCode, ErrorDetail } from '../domain/errors.ts';
import { createClient, type PlantStoreClient } from './client.ts';

test('The client retries a read after a dropped connection, an overload and a proxy error', async () => {
  const faults = [
    drop,
    answer(502, '<h1>Bad Gateway</h1>'),
    answer(429),
    answer(408),
    answer(504),
    answer(200, RECORD),
  ];
  const { url, requests } = await serveInTurn(faults);
  const sleeps: number[] = [];
  assert.equal((await quickClient(url, {}, sleeps).get(5n)).record.name, 'x');
  assert.equal(requests.length, 6);
  assert.deepEqual(sleeps, [100, 200, 400, 800, 1600]);
});

test('The client retries any call that was over the rate limit, after Retry-After', async () => {
  const over = answer(429, '{"error":42900,"message":"Later"}', { 'retry-after': '2' });
  const { url, requests } = await serveInTurn([over, answer(204), over]);
  const sleeps: number[] = [];
  await quickClient(url, {}, sleeps).delete(5n);
  assert.deepEqual([requests.length, sleeps], [2, [2100]]);
  await rejects(quickClient(url, { retries: 0 }).delete(5n), { code: 'over_rate' });
});

test('Retry-After, in seconds or as a date, is the minimum delay before a retry', async () => {
  const date = 'Thu, 01 Jan 2026 00:00:07 GMT';
  const { url } = await serveInTurn([
    answer(503, '', { 'retry-after': '3' }),
    answer(503, '', { 'retry-after': date }),
    answer(503, '', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }),
    answer(503, '', { 'retry-after': 'soon' }),
    answer(200, RECORD),
  ]);
  const sleeps: number[] = [];
  await quickClient(url, { clock: () => Date.parse(date) - 7000 }, sleeps).get(5n);
  assert.deepEqual(sleeps, [3100, 7200, 400, 800]);
});

test('After the last retry the client throws the last error', async () => {
  const overloaded = await serveInTurn([answer(503, '{"error":50300,"message":"Too much"}')]);
  const sleeps: number[] = [];
  await rejects(quickClient(overloaded.url, { retries: 9 }, sleeps).get(5n), {
    code: 'unavailable',
    message: 'Too much',
  });
  assert.equal(overloaded.requests.length, 10);
  assert.deepEqual(sleeps.slice(-3), [6400, 10_000, 10_000]);

  const dropping = await serveInTurn([drop]);
  const error = await rejects(quickClient(dropping.url).create({ id: 5n, name: 'x' }), { code: 'unavailable' });
  assert.ok(error.cause instanceof TypeError);
  assert.equal(dropping.requests.length, 6);
});

test('The client does not retry put(), patch() and delete()', async () => {
  for (const fault of [drop, answer(503)]) {
    const { url, requests } = await serveInTurn([fault]);
    const quick = quickClient(url);
    await rejects(quick.put(5n, { name: 'x' }), { code: 'unavailable' });
    await rejects(quick.patch(5n, { name: 'x' }), { code: 'unavailable' });
    await rejects(quick.delete(5n), { code: 'unavailable' });
    assert.deepEqual(
      requests.map(({ method }) => method),
      ['PUT', 'PATCH', 'DELETE'],
    );
  }
});

test('The client retries calls that change tokens or webhooks only if they were over the rate limit', async () => {
  const calls: ((quick: PlantStoreClient) => Promise<unknown>)[] = [
    ({ tokens }) => tokens.create({ name: 'x' }),
    ({ tokens }) => tokens.rotate('tok_1', { grace: '0' }),
    ({ tokens }) => tokens.revoke('tok_1'),
    ({ webhooks }) => webhooks.create({ url: 'https://example.com' }),
    ({ webhooks }) => webhooks.delete('whk_1'),
    ({ webhooks }) => webhooks.rotate('whk_1'),
    ({ webhooks }) => webhooks.enable('whk_1'),
    ({ webhooks }) => webhooks.test('whk_1'),
    ({ webhooks }) => webhooks.retry('whk_1', 5),
    ({ webhooks }) => webhooks.replay('whk_1', { from: 5 }),
  ];
  for (const fault of [drop, answer(503)]) {
    const { url, requests } = await serveInTurn([fault]);
    for (const call of calls) await rejects(call(quickClient(url)), { code: 'unavailable' });
    assert.equal(requests.length, calls.length);
  }
  const value = answer(200, '{"id":"x","secret":"s","delivered":true,"plant":1}');
  const isDelete = (call: (typeof calls)[number]) => /revoke|delete/.test(String(call));
  const over = answer(429, '{"error":42900,"message":"Later"}');
  const { url, requests } = await serveInTurn(calls.flatMap((call) => [over, isDelete(call) ? answer(204) : value]));
  for (const call of calls) await call(quickClient(url));
  assert.equal(requests.length, 2 * calls.length);
});

test('The client accepts only status 204 as the response to a deletion', async () => {
  const { url } = await serveInTurn([answer(200, '<html>')]);
  const quick = quickClient(url);
  for (const call of [quick.delete(5n), quick.tokens.revoke('tok_1'), quick.webhooks.delete('whk_1')]) {
    await rejects(call, {
      code: 'unavailable',
      message: 'The response is not from a plant store: its status is 200 instead of 204',
    });
  }
});

test('Each attempt times out if the response does not arrive or does not end', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const passTime = () => t.mock.timers.tick(1000);
  const { url, requests } = await serveInTurn([passTime, begin(RECORD.slice(0, 20), passTime), passTime]);
  const timeoutMs = 1000;
  const error = await rejects(quickClient(url, { timeoutMs, retries: 1 }).get(5n), { code: 'unavailable' });
  assert.equal((error.cause as Error).name, 'TimeoutError');
  assert.equal(requests.length, 2);
  // once() would reject if the operating system resets the connection instead of closing it.
  for (const { socket } of requests) socket.destroyed || (await new Promise((resolve) => socket.on('close', resolve)));
  await rejects(quickClient(url, { retries: 0 }).get(5n, { timeoutMs: 40 }), {
    code: 'unavailable',
    message: 'No response from the plant store: timed out after 40 ms',
  });
});

test('An aborted signal ends a call with its reason: in flight, between two attempts, and before the first', async () => {
  const { url, requests } = await serveInTurn([hang, answer(503, '', { 'retry-after': '60' })]);
  let answers = 0;
  const patient = createClient({
    url,
    token: 't',
    async fetch(...sent) {
      const response = await fetch(...sent);
      answers++;
      return response;
    },
  });
  for (const [calls, answered] of [
    [1, 0],
    [2, 1],
    [2, 1],
  ] as const) {
    const abort = new AbortController();
    if (calls === requests.length) abort.abort('enough');
    const got = assert.rejects(patient.get(5n, { signal: abort.signal }), (reason) => reason === 'enough');
    await until(() => requests.length === calls && answers === answered);
    abort.abort('enough');
    await got;
    assert.equal(requests.length, calls);
  }
});

test('The client throws, without a retry, on a response that is not from a plant store', async () => {
  const verdicts: [fault: Handle, code: ErrorCode, detail?: ErrorDetail][] = [
    [answer(404, '<h1>Not Found</h1>'), 'no_such_path'],
    [answer(401, ''), 'no_credentials'],
    [answer(418, '{"error":"teapot"}'), 'malformed_request'],
    [answer(405, 'null', { allow: 'GET' }), 'no_such_method', { allow: 'GET' }],
    [
      answer(415, '', { accept: 'text/csv', 'accept-encoding': 'identity' }),
      'media_type',
      { accept: 'text/csv', acceptEncoding: 'identity' },
    ],
    [answer(400, '{"error":40077,"message":"of a newer version"}'), 'malformed_request'],
    [answer(500, '<h1>Oops</h1>'), 'unavailable'],
    [answer(500, '{"error":50000,"message":"Oops"}'), 'bug'],
    [answer(200, '<h1>Welcome</h1>'), 'unavailable'],
    [answer(200, 'null'), 'unavailable'],
    [answer(200, RECORD, { etag: '"of-another-kind"' }), 'unavailable'],
  ];
  for (const [fault, code, detail = {}] of verdicts) {
    const { url, requests } = await serveInTurn([fault]);
    await rejects(quickClient(url).get(5n), { code, detail });
    assert.equal(requests.length, 1);
  }
});

test('No method for tokens, webhooks or pruning takes an unrelated response for a result', async () => {
  const { url, requests } = await serveInTurn(Array(14).fill(answer(200, '{}')));
  const { tokens, webhooks, prune } = quickClient(url);
  const wanted = { name: 'x', scopes: ['plants:read' as const] };
  for (const call of [
    () => tokens.create(wanted),
    () => tokens.list(),
    () => tokens.get('x'),
    () => tokens.self(),
    () => tokens.update('x', { name: 'y' }),
    () => tokens.rotate('x'),
    () => webhooks.create({ url: 'https://example.com/' }),
    () => webhooks.list(),
    () => webhooks.update('x', { enabled: true }),
    () => webhooks.rotate('x'),
    () => webhooks.enable('x'),
    () => webhooks.test('x'),
    () => webhooks.deliveries('x'),
    () => prune({ olderThan: '90d' }),
  ]) {
    await rejects(call(), { code: 'unavailable', detail: {} });
  }
  assert.equal(requests.length, 14);
});

test('The client does not follow redirects, so it does not send the token to another server', async () => {
  const other = await serveInTurn([answer(200, RECORD)]);
  const { url } = await serveInTurn([answer(307, '', { location: other.url })]);
  await rejects(quickClient(url).get(5n), { code: 'unavailable' });
  assert.equal(other.requests.length, 0);
});
