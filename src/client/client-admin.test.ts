// Tests the client's methods for tokens and webhooks against the real server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startReceiver } from '../../testing/receiver.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { SCOPES } from '../domain/names.ts';
import { createClient, type ErrorCode, type PlantStoreClient, PlantStoreError } from './client.ts';

const LARGE = 9223372036854775807n;

let server: TestService;
let client: PlantStoreClient;
before(async () => {
  server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const { secret } = await server.addToken({ scopes: [...SCOPES] });
  client = createClient({ url: server.url, token: secret });
});
after(() => server.stop());

test('The client creates, lists, reads, changes, rotates and revokes tokens', async () => {
  const { tokens } = client;
  const wanted = { name: 'Shop', scopes: ['plants:read' as const], rate: '9/s' };
  const { secret, ...token } = await tokens.create({ ...wanted, expires: '90d' });
  const { id, created, expires = '', ...rest } = token;
  assert.deepEqual(rest, { ...wanted, status: 'active' });
  assert.equal(Date.parse(expires) - Date.parse(created), 90 * 86_400_000);
  assert.deepEqual(await tokens.get(id), token);
  assert.deepEqual((await tokens.list()).at(-1), token);

  const { expires: _, ...unlimited } = token;
  assert.deepEqual(await tokens.update(id, { name: 'Shop 2', expires: null }), { ...unlimited, name: 'Shop 2' });
  await rejects(tokens.update(id, { rate: 'fast' }), 'not_valid');

  const renewed = await tokens.rotate(id, { grace: '0' });
  await rejects(createClient({ url: server.url, token: secret }).list(), 'bad_token');
  await createClient({ url: server.url, token: renewed.secret }).list();
  assert.equal((await createClient({ url: server.url, token: renewed.secret }).tokens.self()).id, id);
  assert.ok((await tokens.rotate(id)).rotating);
  await tokens.revoke(id);
  assert.equal((await tokens.get(id)).status, 'revoked');
  await rejects(tokens.rotate(id), 'not_found');
  await rejects(tokens.update(id, { name: 'x' }), 'not_found');
  await rejects(tokens.get('a/b?c'), 'bad_parameter');
  await rejects(tokens.create({ name: '' }), 'not_valid');
  await rejects(createClient({ url: server.url, token: server.secret }).tokens.list(), 'scope_missing');
});

test('The client lists tokens page by page, and all of them at once', async () => {
  const { tokens } = client;
  for (const name of ['one', 'two', 'three']) await tokens.create({ name });
  const all = await tokens.list();
  const paged: typeof all = [];
  for (let cursor: string | undefined; ; ) {
    const page = await tokens.page({ limit: 2, cursor });
    paged.push(...page.tokens);
    if (page.next === undefined) break;
    assert.equal(page.tokens.length, 2);
    cursor = page.next;
  }
  assert.deepEqual(paged, all);
  await rejects(tokens.page({ cursor: 'x' }), 'bad_parameter');
});

test('The client manages webhooks, and lists and retries their deliveries', async () => {
  const { webhooks } = client;
  const receiver = await startReceiver();
  const { secret, ...made } = await webhooks.create({ url: receiver.url, events: ['plant.created', 'plant.deleted'] });
  const { id } = made;
  assert.match(secret, /^whsec_/);
  assert.deepEqual(await webhooks.get(id), made);
  assert.deepEqual(await webhooks.list(), [made]);
  const { delivered, code, milliseconds } = await webhooks.test(id);
  assert.deepEqual([delivered, code, milliseconds >= 0], [true, 200, true]);

  const { seq } = await client.create({ id: LARGE, name: 'x' });
  await client.delete(LARGE);
  const seqs = [seq + 1, seq];
  await until(async () => (await webhooks.deliveries(id, { status: 'delivered' })).length === 2);
  const page = await webhooks.deliveries(id);
  assert.deepEqual(
    page.map((delivery) => delivery.seq),
    seqs,
  );
  assert.deepEqual(
    page.map((delivery) => delivery.plant),
    [LARGE, LARGE],
  );
  assert.deepEqual((await webhooks.deliveries(id, { limit: 1 })).length, 1);
  assert.deepEqual(await webhooks.deliveries(id, { before: seq + 1 }), page.slice(1));
  assert.deepEqual(await webhooks.deliveries(id, { status: 'dead' }), []);

  const detail = await webhooks.delivery(id, seq);
  assert.deepEqual([detail.plant, detail.history.length, detail.history[0]?.code], [LARGE, 1, 200]);
  assert.equal(detail.request?.body, `{"id":${LARGE},"name":"x"}`);
  await rejects(webhooks.delivery(id, seq + 5), 'not_found');
  const updated = await webhooks.update(id, { name: 'Shop', format: 'event', enabled: false });
  assert.deepEqual([updated.name, updated.format, updated.status], ['Shop', 'event', 'disabled']);
  const { name, status } = await webhooks.update(id, { name: null, enabled: true });
  assert.deepEqual([name, status], [undefined, 'active']);
  await rejects(webhooks.update(id, { events: [] }), 'not_valid');

  const again = await webhooks.retry(id, seq);
  assert.deepEqual([again.seq, again.plant, again.status], [seq, LARGE, 'waiting']);
  assert.equal((await webhooks.replay(id, { from: seq, to: seq + 1 })).position, seq - 1);
  assert.equal((await webhooks.enable(id)).status, 'active');
  const renewed = await webhooks.rotate(id);
  assert.notEqual(renewed.secret, secret);
  assert.ok(renewed.rotating);
  await webhooks.delete(id);
  await rejects(webhooks.get(id), 'not_found');
});

async function rejects(promise: Promise<unknown>, code: ErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => error instanceof PlantStoreError && error.code === code);
}
