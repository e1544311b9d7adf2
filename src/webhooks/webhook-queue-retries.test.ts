// Tests the retry schedule, and how a webhook queue treats a failing receiver.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allNext, change, FAILED, HOUR_MS, OK, queueAt, warmUp, webhookAt } from '../../testing/webhook-queue.ts';
import type { PendingDelivery } from './per-plant-queue.ts';
import { RETRY_AFTER_MS, WebhookQueue } from './webhook-queue.ts';

test('Retries follow after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h, and then the delivery is a dead letter', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1)], 0);
  let nowMs = 0;
  const waits: number[] = [];
  for (;;) {
    const delivery = queue.next(nowMs) as PendingDelivery;
    const result = queue.finish(delivery, FAILED, nowMs);
    if (result === 'dead') break;
    assert.equal(queue.next(delivery.dueMs - 1), undefined, 'the retry was too early');
    waits.push(delivery.dueMs - nowMs);
    nowMs = delivery.dueMs;
  }
  assert.deepEqual(waits, [5000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)]);
  const [record] = queue.progress(nowMs, true)?.records ?? [];
  assert.deepEqual(
    { status: record?.status, attempts: record?.attempts, code: record?.code, answer: record?.answer },
    { status: 'dead', attempts: 10, code: 500, answer: 'no' },
  );
});

test('Jitter shortens or extends each delay by up to 20 %', () => {
  for (const [random, factor] of [
    [0, 0.8],
    [1, 1.2],
  ] as const) {
    const queue = new WebhookQueue(webhookAt(0), [], { maxOpen: 10, random: () => random });
    queue.addPage([change(1, 1)], 0);
    const delivery = queue.next(0) as PendingDelivery;
    queue.finish(delivery, FAILED, 0);
    assert.equal(delivery.dueMs, (RETRY_AFTER_MS[0] as number) * factor);
  }
});

test('Retry-After extends a delay but never shortens it, and pauses the webhook with 429 and 503', () => {
  for (const [code, retryAfterMs, dueMs, othersWait] of [
    [429, 60_000, 60_000, true],
    [503, 60_000, 60_000, true],
    [500, 60_000, 60_000, false],
    [429, 1000, 5000, true],
  ] as const) {
    const queue = queueAt();
    warmUp(queue, 1, 3);
    queue.addPage([change(10, 1), change(11, 2)], 0);
    const delivery = queue.next(0) as PendingDelivery;
    queue.finish(delivery, { ...FAILED, code, retryAfterMs }, 0);
    assert.equal(delivery.dueMs, dueMs);
    assert.equal(queue.next(retryAfterMs - 1)?.seq, othersWait ? undefined : 11);
    if (othersWait) assert.ok(queue.next(retryAfterMs));
  }
});

for (const [what, outcome] of [
  ['slow', { ...OK, durationMs: 2000 }],
  ['overlong', { ...OK, isTooLong: true }],
] as const)
  test(`Quick responses raise the number of concurrent requests to 32, and ${what} ones lower it to 1`, () => {
    const queue = queueAt();
    warmUp(queue, 1, 100);
    queue.addPage(
      Array.from({ length: 64 }, (_, n) => change(200 + n, n)),
      0,
    );
    const inFlight: PendingDelivery[] = [];
    for (let delivery = queue.next(0); delivery; delivery = queue.next(0)) inFlight.push(delivery);
    assert.equal(inFlight.length, 32);
    for (const delivery of inFlight) queue.finish(delivery, outcome, 0);
    assert.equal(allNext(queue).length, 1);
  });

test('New changes are attempted with exponential backoff of up to 5 min, until the first success', () => {
  const queue = queueAt();
  let nowMs = 0;
  let seq = 0;
  const triedMs: number[] = [];
  while (nowMs < HOUR_MS) {
    if (queue.wantsMore(nowMs)) queue.addPage([change(++seq, seq)], nowMs);
    const delivery = queue.next(nowMs);
    if (!delivery) {
      nowMs += 250;
      continue;
    }
    if (delivery.attempts === 0) triedMs.push(nowMs);
    nowMs++;
    queue.finish(delivery, { ...FAILED, code: 503 }, nowMs);
  }
  const gaps = triedMs.slice(1).map((ms, at) => ms - (triedMs[at] as number));
  assert.ok(triedMs.length < 30, `${triedMs.length} were attempted`);
  assert.ok(Math.max(...gaps) >= 299_000 && Math.max(...gaps) <= 302_000, String(Math.max(...gaps)));
  assert.equal(queue.progress(nowMs, true)?.failing?.sinceMs, 1);
  nowMs += 24 * HOUR_MS;
  queue.finish(queue.next(nowMs) as PendingDelivery, OK, nowMs);
  assert.equal(queue.wantsMore(nowMs), true);
  assert.equal(queue.progress(nowMs, true)?.failing, null);
});

test('When a receiver recovers, all pending deliveries are attempted once, without a change of their schedule', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 2), change(12, 3), change(13, 3)], 0);
  for (const delivery of [1, 2, 3].map(() => queue.next(0) as PendingDelivery)) queue.finish(delivery, FAILED, 100);
  const due = [10, 11, 12].map((seq) => {
    const delivery = queue.next(5100) as PendingDelivery;
    assert.equal(delivery.seq, seq);
    queue.finish(delivery, { ...FAILED, ...(seq === 12 && { retryAfterMs: HOUR_MS }) }, 5100);
    return delivery.dueMs;
  });
  assert.equal(queue.isDown, true);
  queue.addPage([change(14, 4)], 7000);
  queue.finish(queue.next(7000) as PendingDelivery, OK, 7000);
  assert.equal(queue.isDown, false);
  const poison = queue.next(7000) as PendingDelivery;
  assert.equal(poison.seq, 10);
  queue.finish(poison, FAILED, 7000);
  assert.deepEqual([poison.dueMs, poison.attempts], [due[0], 2], 'an extra attempt does not count');
  queue.finish(queue.next(7000) as PendingDelivery, OK, 7000);
  assert.deepEqual(allNext(queue, 300_000), [], 'one is not due, and Retry-After delays the other');
  assert.deepEqual(allNext(queue, due[0]), [10]);
});

test('Plants whose deliveries hang or fail do not delay the others', () => {
  for (const [poisons, tookMs] of [
    [1, 15_000],
    [3, 15_000],
    [10, 15_000],
    [10, 5],
  ] as const) {
    const queue = queueAt();
    const endsMs = new Map<PendingDelivery, number>();
    let [seq, delivered, failures] = [0, 0, 0];
    for (let nowMs = 0; nowMs < HOUR_MS / 4; nowMs += 100) {
      while (queue.wantsMore(nowMs) && seq < nowMs / 100) {
        seq++;
        queue.addPage([change(seq, seq <= poisons ? -seq : seq)], nowMs);
      }
      for (let delivery = queue.next(nowMs); delivery; delivery = queue.next(nowMs)) {
        endsMs.set(delivery, nowMs + (delivery.plantId < 0n ? tookMs : 5));
      }
      for (const [delivery, endMs] of endsMs) {
        if (endMs > nowMs) continue;
        endsMs.delete(delivery);
        const isGood = delivery.plantId > 0n;
        queue.finish(delivery, isGood ? OK : { ...FAILED, durationMs: tookMs }, nowMs);
        if (isGood) delivered++;
        else failures++;
      }
    }
    assert.ok(delivered > 8500, `${poisons} × ${tookMs} ms: ${delivered} of 9000 were delivered`);
    assert.ok(failures <= 5 * poisons, `${poisons} × ${tookMs} ms: ${failures} attempts failed`);
  }
});

test('A change that fails while others succeed keeps its schedule', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1)], 0);
  queue.finish(queue.next(0) as PendingDelivery, FAILED, 0);
  queue.finish(queue.next(5000) as PendingDelivery, FAILED, 5000);
  for (let seq = 2; seq < 20; seq++) {
    queue.addPage([change(seq, seq)], 6000);
    queue.finish(queue.next(6000) as PendingDelivery, OK, 6000);
  }
  assert.equal(queue.next(300_000), undefined);
  assert.equal(queue.next(305_000)?.seq, 1);
});

test('Status 410 disables a webhook, and so do 5 days without a success', () => {
  const gone = queueAt();
  gone.addPage([change(1, 1), change(2, 2)], 0);
  gone.finish(gone.next(0) as PendingDelivery, { ...FAILED, code: 410 }, 7);
  const progress = gone.progress(7, true);
  assert.deepEqual(
    [progress?.disabledMs, progress?.failing?.reason],
    [7, 'The receiver responded with status 410 (gone)'],
  );
  assert.equal(gone.next(HOUR_MS), undefined);

  const late = queueAt();
  warmUp(late, 1, 3);
  late.addPage([change(10, 1), change(11, 2), change(12, 3)], 0);
  const [first, second, third] = [1, 2, 3].map(() => late.next(0) as PendingDelivery) as [
    PendingDelivery,
    PendingDelivery,
    PendingDelivery,
  ];
  late.finish(first, { ...FAILED, code: 410 }, 7);
  late.finish(second, OK, 8);
  late.finish(third, FAILED, 9);
  assert.equal(
    late.progress(9, true)?.failing?.reason,
    'The receiver responded with status 410 (gone)',
    'the reason does not change',
  );

  const failing = queueAt(0, [], { failing: { sinceMs: 0, reason: 'x' } });
  failing.addPage([change(1, 1)], 0);
  failing.finish(failing.next(0) as PendingDelivery, FAILED, 119 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, null);
  failing.finish(failing.next(120 * HOUR_MS) as PendingDelivery, FAILED, 120 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, 120 * HOUR_MS);
  assert.match(failing.progress(0, true)?.failing?.reason ?? '', /^Every attempt failed for 5 days/);
});
