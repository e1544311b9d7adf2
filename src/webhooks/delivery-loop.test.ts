// The loop on a real store, with receivers that do as they are told. The real process is in src/webhooks/webhooks.test.ts.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import type { Store } from '../domain/store.ts';
import { openSqliteStore } from '../storage/sqlite/store.ts';
import { startDelivery } from './delivery-loop.ts';
import type { ReceiverClient } from './receiver-client.ts';

const BY = { tokenId: 'cli' };
const OK = { delivered: true, code: 200, answer: '', durationMs: 1 };
const FAILED = { ...OK, delivered: false, code: 500 };
const DAY_MS = 24 * 3_600_000;

async function openStore(): Promise<Store> {
  const path = join(makeFolder(), 'plants.db');
  const store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail() });
  after(() => store.close());
  return store;
}

function addWebhook(store: Store, id: string): Promise<unknown> {
  const url = `https://${id.replace('_', '-')}.example/`;
  return store.addWebhook({ id, url, events: ['plant.created'], secret: 'whsec_AAAA', createdMs: Date.now() });
}

/** The clock on the wall is ahead by as much as `aheadMs` says. */
async function createFirst(t: TestContext, post: ReceiverClient['post'], aheadMs: () => number): Promise<void> {
  const store = await openStore();
  const clock = () => Date.now() + aheadMs();
  const delivery = startDelivery({ store, receiverClient: { post, close() {} }, node: 'test', observe() {}, clock });
  t.after(() => delivery.stop());
  await addWebhook(store, 'whk_1');
  delivery.wake();
  await store.create({ id: 1n, name: 'x' }, BY);
}

test('outcomes that could not be recorded hold up nothing for good, also when their webhook is gone', async (t) => {
  const store = await openStore();
  let isBroken = false;
  const sent: string[] = [];
  const receiverClient: ReceiverClient = {
    async post(url) {
      sent.push(url);
      return OK;
    },
    close() {},
  };
  const delivery = startDelivery({
    store: {
      ...store,
      async recordDeliveries(node, progress) {
        if (isBroken) throw new Error('out of order');
        return store.recordDeliveries(node, progress);
      },
    },
    receiverClient,
    node: 'test',
    observe() {},
  });
  t.after(() => delivery.stop());
  await addWebhook(store, 'whk_1');
  delivery.wake();
  isBroken = true;
  await store.create({ id: 1n, name: 'x' }, BY);
  await until(() => sent.length === 1);
  await sleep(250);
  await store.create({ id: 2n, name: 'x' }, BY);
  await sleep(250);
  assert.equal(sent.length, 1, 'nothing is sent while nothing can be recorded');
  await store.removeWebhook('whk_1');
  await addWebhook(store, 'whk_2');
  delivery.wake();
  await sleep(300);
  isBroken = false;
  await store.create({ id: 3n, name: 'x' }, BY);
  await until(() => sent.includes('https://whk-2.example/'));
});

test('more webhooks that are slow than may be under way stop nobody else', async (t) => {
  const store = await openStore();
  const count = 2300;
  await Promise.all(Array.from({ length: count }, (_, n) => addWebhook(store, `whk_${n}`)));
  let [underWay, most, sent] = [0, 0, 0];
  const receiverClient: ReceiverClient = {
    async post() {
      most = Math.max(most, ++underWay);
      await sleep(300);
      underWay--;
      sent++;
      return { ...OK, durationMs: 300 };
    },
    close() {},
  };
  const delivery = startDelivery({ store, receiverClient, node: 'test', observe() {} });
  t.after(() => delivery.stop());
  let longestMs = 0;
  let last = process.threadCpuUsage(); // a busy machine makes it late, but not busy itself
  const clock = setInterval(() => {
    longestMs = Math.max(longestMs, process.threadCpuUsage(last).user / 1000);
    last = process.threadCpuUsage();
  }, 5);
  await store.create({ id: 1n, name: 'x' }, BY);
  await until(() => sent === count);
  clearInterval(clock);
  assert.ok(most <= 2048, `${most} at once`);
  assert.ok(longestMs < 1000, `the event loop was busy for ${longestMs} ms`);
});

test('a clock that is put forward or back makes nothing come early or late', async (t) => {
  let aheadMs = 0;
  const triedMs: number[] = [];
  const send = async () => {
    triedMs.push(performance.now());
    return triedMs.length > 1 ? OK : FAILED;
  };
  await createFirst(t, send, () => aheadMs);
  await until(() => triedMs.length === 1);
  for (const aheadOfTimeMs of [DAY_MS, 0, -DAY_MS, 0]) {
    await sleep(700);
    aheadMs = aheadOfTimeMs;
  }
  await until(() => triedMs.length === 2);
  const waitedMs = (triedMs[1] ?? 0) - (triedMs[0] ?? 0);
  assert.ok(waitedMs >= 3900, `${waitedMs} ms`); // 5 s, less a fifth at most
});

test('a clock that is set while a request is under way makes nothing come a day late', async (t) => {
  let aheadMs = 0;
  let tries = 0;
  const send = async () => {
    if (++tries > 1) return OK;
    aheadMs = DAY_MS;
    return FAILED;
  };
  await createFirst(t, send, () => aheadMs);
  await until(() => tries === 2); // due 5 s later
});
