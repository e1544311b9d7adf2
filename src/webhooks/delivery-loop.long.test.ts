// Tests the delivery loop with more webhooks than the maximum number of requests in flight, on a real store.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { openSqliteStore } from '../storage/sqlite/store.ts';
import { DeliveryLoop } from './delivery-loop.ts';

const WEBHOOKS = 2300;
const RESPONSE_MS = 300;

test('More slow webhooks than the maximum number of requests in flight block no other webhook', async (t) => {
  const path = `${makeFolder()}/plants.db`;
  const store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail() });
  const webhook = { url: 'https://example.com/', events: ['plant.created' as const], secret: 'whsec_AAAA' };
  await Promise.all(
    Array.from({ length: WEBHOOKS }, (_, n) => store.addWebhook({ ...webhook, id: `whk_${n}`, createdMs: Date.now() })),
  );
  let [inFlight, most, sent] = [0, 0, 0];
  const receiverClient = {
    async post() {
      most = Math.max(most, ++inFlight);
      await sleep(RESPONSE_MS);
      inFlight--;
      sent++;
      return { delivered: true, code: 200, answer: '', durationMs: RESPONSE_MS };
    },
    close() {},
  };
  const loop = new DeliveryLoop({ store, receiverClient, node: 'test', observe() {} });
  t.after(async () => {
    await loop.stop();
    await store.close();
  });
  let longestMs = 0;
  let last = process.threadCpuUsage(); // CPU time, because a busy machine delays the loop
  const watch = setInterval(() => {
    longestMs = Math.max(longestMs, process.threadCpuUsage(last).user / 1000);
    last = process.threadCpuUsage();
  }, 5);
  await store.create({ id: 1n, name: 'x' }, { tokenId: 'cli' });
  await until(() => sent === WEBHOOKS);
  clearInterval(watch);
  assert.ok(most <= 2048, `${most} concurrent requests`);
  assert.ok(longestMs < 1000, `the event loop was busy for ${longestMs} ms`);
});
