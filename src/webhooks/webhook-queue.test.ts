import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../domain/change.ts';
import type { DeliveryRecord, OpenDelivery, Progress, StoredWebhook } from '../domain/webhook.ts';
import type { PendingDelivery } from './per-plant-queue.ts';
import type { Outcome } from './receiver-client.ts';
import { RETRY_AFTER_MS, WebhookQueue } from './webhook-queue.ts';

const HOUR_MS = 3_600_000;
const OK: Outcome = { delivered: true, code: 200, answer: 'ok', durationMs: 5 };
const FAILED: Outcome = {
  delivered: false,
  code: 500,
  answer: 'no',
  error: 'The receiver answered 500',
  durationMs: 5,
};

function webhookAt(position: number, more: Partial<StoredWebhook> = {}): StoredWebhook {
  return {
    id: 'whk_1',
    url: 'https://example.com/',
    events: ['plant.created', 'plant.updated'],
    secret: 'whsec_AAAA',
    oldSecret: null,
    createdMs: 0,
    position,
    replay: null,
    failing: null,
    disabledMs: null,
    epoch: 0,
    retries: 0,
    ...more,
  };
}

function queueAt(
  position = 0,
  open: OpenDelivery[] = [],
  more: Partial<StoredWebhook> = {},
  maxOpen = 1000,
): WebhookQueue {
  return new WebhookQueue(webhookAt(position, more), open, { maxOpen, random: () => 0.5 });
}

function change(seq: number, plantId: number, type: Change['type'] = 'plant.created'): Change {
  return { seq, type, time: '', plant: { id: BigInt(plantId), name: `v${seq}` }, token: 'cli' };
}

/** Opens the window, so that several can be under way. */
function warmUp(queue: WebhookQueue, firstSeq: number, count: number): void {
  for (let seq = firstSeq; seq < firstSeq + count; seq++) {
    queue.addPage([change(seq, -seq)], 0);
    queue.finish(queue.next(0) as PendingDelivery, OK, 0);
  }
}

function allNext(queue: WebhookQueue, nowMs = 0): number[] {
  const seqs: number[] = [];
  for (let delivery = queue.next(nowMs); delivery; delivery = queue.next(nowMs)) seqs.push(delivery.seq);
  return seqs;
}

test('a webhook that was read anew counts from the next change on', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1, 'plant.created')], 0);
  queue.webhook = webhookAt(0, { events: ['plant.deleted'], epoch: 3 });
  queue.addPage([change(2, 2, 'plant.created'), change(3, 3, 'plant.deleted')], 0);
  assert.equal(queue.finish(queue.next(0) as PendingDelivery, OK, 0), 'delivered');
  assert.deepEqual(allNext(queue), [3]);
  assert.equal(queue.progress(0, true)?.epoch, 3);
});

test('a delivery is tried after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and is a dead letter then', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1)], 0);
  let nowMs = 0;
  const waits: number[] = [];
  for (;;) {
    const delivery = queue.next(nowMs) as PendingDelivery;
    const result = queue.finish(delivery, FAILED, nowMs);
    if (result === 'dead') break;
    assert.equal(queue.next(delivery.dueMs - 1), undefined, 'it came too early');
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

test('each wait is up to 20 % shorter or longer', () => {
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

test('Retry-After makes a wait longer, never shorter; with 429 and 503 everything waits', () => {
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

test('changes of one plant go one after the other, those of others at the same time', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 1), change(12, 2), change(13, 1)], 0);
  const first = queue.next(0) as PendingDelivery;
  assert.equal(first.seq, 10);
  assert.deepEqual(allNext(queue), [12]);
  queue.finish(first, OK, 0);
  assert.deepEqual(allNext(queue), [11]);
});

test('behind a delivery that waits, those of its plant wait, and the position passes them', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 1), change(12, 2)], 0);
  const first = queue.next(0) as PendingDelivery;
  const other = queue.next(0) as PendingDelivery;
  queue.finish(first, FAILED, 0);
  queue.finish(other, OK, 0);
  queue.addPage([change(13, 1)], 0);
  assert.deepEqual(allNext(queue), []);
  const progress = queue.progress(0, true);
  assert.equal(progress?.position, 13);
  assert.deepEqual(
    progress?.records.filter(({ seq }) => seq >= 10).map(({ seq, status, attempts }) => [seq, status, attempts]),
    [
      [10, 'waiting', 1],
      [11, 'waiting', 0],
      [12, 'delivered', 1],
      [13, 'waiting', 0],
    ],
  );
  for (const seq of [10, 11, 13]) {
    const delivery = queue.next(5000) as PendingDelivery;
    assert.equal(delivery.seq, seq);
    assert.equal(queue.next(5000), undefined);
    assert.equal(delivery.change, undefined, 'what waits is not kept in memory');
    queue.finish(delivery, OK, 5000);
  }
});

test('the position never passes what is neither delivered nor recorded', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 2), change(12, 3, 'plant.deleted')], 0);
  const [first, second] = [queue.next(0) as PendingDelivery, queue.next(0) as PendingDelivery];
  queue.finish(second, OK, 10);
  assert.equal(queue.progress(10, true)?.position, 9);
  assert.equal(queue.progress(1500, true)?.position, 12, 'what is slow is put aside');
  assert.ok(queue.progress(1500, true)?.records.some(({ seq, status }) => seq === 10 && status === 'waiting'));
  queue.finish(first, OK, 1600);
  assert.ok(queue.progress(1600, true)?.records.some(({ seq, status }) => seq === 10 && status === 'delivered'));
});

test('after a restart it goes on with what was recorded, and with what was not', () => {
  const open = [
    { seq: 3, plantId: 1n, attempts: 2, dueMs: 5000 },
    { seq: 6, plantId: 1n, attempts: 0, dueMs: 0 },
  ];
  const queue = queueAt(4, open);
  queue.addPage([change(5, 2), change(6, 1), change(7, 1)], 0);
  assert.deepEqual(allNext(queue), [5]);
  assert.equal(queue.next(5000), undefined, 'one at a time until it is known to be quick');
});

test('it takes no more than it may have open', () => {
  const queue = queueAt(0, [], {}, 3);
  queue.addPage([change(1, 1), change(2, 2), change(3, 3), change(4, 4)], 0);
  assert.equal(queue.readTo, 3);
  assert.equal(queue.wantsMore(0), false);
  queue.finish(queue.next(0) as PendingDelivery, OK, 0);
  queue.addPage([change(4, 4)], 0);
  assert.equal(queue.readTo, 4);
});

test('requests under way grow with quick answers to 32, and shrink with failures and slow answers to 1', () => {
  const queue = queueAt();
  warmUp(queue, 1, 100);
  queue.addPage(
    Array.from({ length: 64 }, (_, n) => change(200 + n, n)),
    0,
  );
  const inFlight: PendingDelivery[] = [];
  for (let delivery = queue.next(0); delivery; delivery = queue.next(0)) inFlight.push(delivery);
  assert.equal(inFlight.length, 32);
  for (const delivery of inFlight) queue.finish(delivery, { ...OK, durationMs: 2000 }, 0);
  assert.equal(allNext(queue).length, 1);
});

test('new changes are tried less and less often while all fails, up to every 5 min, and at once again after a success', () => {
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
  assert.ok(triedMs.length < 30, `${triedMs.length} were tried`);
  assert.ok(Math.max(...gaps) >= 299_000 && Math.max(...gaps) <= 302_000, String(Math.max(...gaps)));
  assert.equal(queue.progress(nowMs, true)?.failing?.sinceMs, 1);
  nowMs += 24 * HOUR_MS;
  queue.finish(queue.next(nowMs) as PendingDelivery, OK, nowMs);
  assert.equal(queue.wantsMore(nowMs), true);
  assert.equal(queue.progress(nowMs, true)?.failing, null);
});

test('when a receiver that was down answers again, all that waits is tried at once; what fails then keeps its schedule', () => {
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
  assert.deepEqual([poison.dueMs, poison.attempts], [due[0], 2], 'an attempt too many does not count');
  queue.finish(queue.next(7000) as PendingDelivery, OK, 7000);
  assert.deepEqual(allNext(queue, 300_000), [], 'one is not due, the other not before the receiver wants it');
  assert.deepEqual(allNext(queue, due[0]), [10]);
});

test('whatever some plants do to it, the others get theirs: in an hour of hangs, or of failures', () => {
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

test('what somebody wants again while it is under way is tried again at once, as often as a new one', () => {
  const queue = queueAt(9, [{ seq: 3, plantId: 3n, attempts: 9, dueMs: 0 }]);
  const delivery = queue.next(100) as PendingDelivery;
  queue.merge([{ seq: 3, plantId: 3n, attempts: 0, dueMs: 150 }]);
  queue.finish(delivery, FAILED, 200);
  assert.deepEqual([delivery.attempts, delivery.dueMs], [0, 200]);
  assert.equal(queue.next(200)?.seq, 3);

  const waiting = queueAt(9, [{ seq: 3, plantId: 3n, attempts: 9, dueMs: 0 }]);
  waiting.merge([{ seq: 3, plantId: 3n, attempts: 0, dueMs: 150 }]);
  const second = waiting.next(200) as PendingDelivery;
  waiting.finish(second, FAILED, 200);
  assert.equal(second.attempts, 1, 'also when it was due already');
});

test('in a replay, what waits after it of the same plant waits until it is reached', () => {
  const queue = queueAt(0, [{ seq: 2, plantId: 1n, attempts: 1, dueMs: 0 }], { replay: { to: 1, resume: 2 } }, 1);
  assert.equal(queue.next(10), undefined);
  assert.equal(queue.wantsMore(10), true, 'it counts only what was reached');
  queue.addPage([change(1, 1), change(2, 1)], 10);
  const first = queue.next(10) as PendingDelivery;
  assert.equal(first.seq, 1);
  queue.finish(first, OK, 10);
  assert.equal(queue.next(10)?.seq, 2);
});

test('one change that fails beside others that succeed keeps its schedule', () => {
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

test('410 disables it, and so do 5 days of nothing but failures; what waits stays', () => {
  const gone = queueAt();
  gone.addPage([change(1, 1), change(2, 2)], 0);
  gone.finish(gone.next(0) as PendingDelivery, { ...FAILED, code: 410 }, 7);
  const progress = gone.progress(7, true);
  assert.deepEqual([progress?.disabledMs, progress?.failing?.reason], [7, 'The receiver answered 410 (gone)']);
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
  assert.equal(late.progress(9, true)?.failing?.reason, 'The receiver answered 410 (gone)', 'it stays the reason');

  const failing = queueAt(0, [], { failing: { sinceMs: 0, reason: 'x' } });
  failing.addPage([change(1, 1)], 0);
  failing.finish(failing.next(0) as PendingDelivery, FAILED, 119 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, null);
  failing.finish(failing.next(120 * HOUR_MS) as PendingDelivery, FAILED, 120 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, 120 * HOUR_MS);
  assert.match(failing.progress(0, true)?.failing?.reason ?? '', /^Nothing but failures for 5 days/);
});

test('a replay sends its range, then what is new', () => {
  const queue = queueAt(2, [], { replay: { to: 4, resume: 9 } });
  warmUp(queue, 0, 0);
  queue.addPage([change(3, 3), change(4, 4), change(5, 5)], 0);
  assert.equal(queue.readTo, 9);
  for (const seq of [3, 4]) {
    const delivery = queue.next(0) as PendingDelivery;
    assert.equal(delivery.seq, seq);
    assert.equal(queue.progress(0, true)?.position ?? 2, seq - 1);
    queue.finish(delivery, OK, 0);
  }
  assert.equal(queue.progress(0, true)?.position, 9);
  queue.addPage([change(10, 10)], 0);
  assert.deepEqual(allNext(queue), [10]);
});

test('a replay whose range is followed by nothing that is there any more goes on where it was, never back', () => {
  const queue = queueAt(20, [], { replay: { to: 3, resume: 10 } });
  queue.addPage([], 0);
  assert.equal(queue.readTo, 20);
});

test('merge() takes what somebody wants again into what is under way', () => {
  const queue = queueAt(9, [{ seq: 3, plantId: 3n, attempts: 4, dueMs: HOUR_MS }]);
  queue.addPage([change(10, 1)], 0);
  const inFlight = queue.next(0) as PendingDelivery;
  queue.merge([
    { seq: 2, plantId: 2n, attempts: 0, dueMs: 5 },
    { seq: 3, plantId: 3n, attempts: 0, dueMs: 5 },
    { seq: 10, plantId: 1n, attempts: 0, dueMs: 5 },
  ]);
  assert.equal(queue.inFlight, 1);
  queue.finish(inFlight, OK, 5);
  assert.deepEqual(allNext(queue, 5), [3, 2]);
});

test('merge() does not take what was recorded while it was read', () => {
  const open = { seq: 3, plantId: 3n, attempts: 0, dueMs: 0 };
  const queue = queueAt(9, [open]);
  queue.finish(queue.next(0) as PendingDelivery, OK, 5);
  queue.startReload();
  queue.confirm(queue.progress(10, true) as Progress);
  queue.merge([open]);
  assert.equal(queue.next(10), undefined, 'it was delivered');
  queue.startReload();
  queue.merge([open]);
  assert.equal(queue.next(10)?.seq, 3, 'somebody wants it once more');
});

test('confirm() forgets what was recorded, and not what has come since', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1)], 0);
  const delivery = queue.next(0) as PendingDelivery;
  queue.finish(delivery, FAILED, 0);
  const given = queue.progress(0, true);
  const again = queue.next(5000) as PendingDelivery;
  queue.finish(again, OK, 5000);
  if (given) queue.confirm(given);
  assert.deepEqual(
    queue.progress(5000, true)?.records.map(({ status }) => status),
    ['delivered'],
  );
  const last = queue.progress(5000, true);
  if (last) queue.confirm(last);
  assert.equal(queue.progress(5000, true), undefined);
});

test('whatever fails and however often it crashes: nothing is lost, and each plant has its order', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ does: 'read' } as const) },
    { weight: 6, arbitrary: fc.constant({ does: 'send' } as const) },
    {
      weight: 6,
      arbitrary: fc.record({
        does: fc.constant('finish' as const),
        at: fc.nat(40),
        delivered: fc.boolean(),
        code: fc.constantFrom(200, 429, 500),
        quick: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ does: 'record' } as const) },
    { weight: 1, arbitrary: fc.constant({ does: 'crash' } as const) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('retry' as const), seq: fc.nat(30) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant('replay' as const),
        from: fc.integer({ min: 1, max: 30 }),
        length: fc.nat(10),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant('wait' as const), ms: fc.constantFrom(10, 1500, 10_000, HOUR_MS) }),
    },
  );
  const types = fc.constantFrom<Change['type']>('plant.created', 'plant.updated', 'plant.deleted');
  const log = fc.array(fc.record({ plant: fc.nat(3), type: types }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(log, fc.array(step, { maxLength: 150 }), fc.integer({ min: 2, max: 10 }), (changes, steps, maxOpen) => {
      const all = changes.map(({ plant, type }, at) => change(at + 1, plant, type));
      const wanted = all.filter(({ type }) => type !== 'plant.deleted');
      const recorded = new Map<number, DeliveryRecord>();
      const settled = new Set<number>();
      let webhook = webhookAt(0);
      let queue = begin();
      let inFlight: PendingDelivery[] = [];
      let nowMs = 0;

      for (const one of steps) run(one);
      for (let round = 0; !isDone() && round < 1000; round++) {
        run({ does: 'read' });
        run({ does: 'send' });
        run({ does: 'finish', at: 0, delivered: true, code: 200, quick: true });
        run({ does: 'record' });
        run({ does: 'wait', ms: HOUR_MS });
      }
      assert.ok(isDone(), `${settled.size} of ${wanted.length} were sent, and it is at ${webhook.position}`);

      function isDone(): boolean {
        const waiting = [...recorded.values()].filter(({ status }) => status === 'waiting');
        return settled.size === wanted.length && webhook.position === all.length && waiting.length === 0;
      }

      function begin(): WebhookQueue {
        return new WebhookQueue(webhook, openDeliveries(), { maxOpen, random: () => 0.5 });
      }

      function openDeliveries(): DeliveryRecord[] {
        return [...recorded.values()].filter(({ status }) => status === 'waiting').sort((a, b) => a.seq - b.seq);
      }

      function run(one: Step): void {
        switch (one.does) {
          case 'read':
            if (queue.wantsMore(nowMs)) queue.addPage(all.slice(queue.readTo, queue.readTo + 4), nowMs);
            return;
          case 'send': {
            const delivery = queue.next(nowMs);
            if (!delivery) return;
            const earlier = wanted.filter(({ plant, seq }) => plant.id === delivery.plantId && seq < delivery.seq);
            for (const { seq } of earlier)
              assert.ok(settled.has(seq), `${delivery.seq} was sent before ${seq} was done`);
            assert.ok(!inFlight.some(({ plantId }) => plantId === delivery.plantId), 'two of one plant at once');
            inFlight.push(delivery);
            return;
          }
          case 'finish': {
            const [delivery] = inFlight.splice(one.at % Math.max(1, inFlight.length), 1);
            if (!delivery) return;
            const outcome = one.delivered ? OK : { ...FAILED, code: one.code };
            const result = queue.finish(delivery, { ...outcome, durationMs: one.quick ? 5 : 3000 }, nowMs);
            if (result !== 'failed') settled.add(delivery.seq);
            return;
          }
          case 'record': {
            const progress = queue.progress(nowMs, true);
            if (!progress) return;
            for (const record of progress.records) recorded.set(record.seq, record);
            for (const { seq } of wanted.filter(({ seq }) => seq <= progress.position)) {
              assert.ok(recorded.has(seq), `the position ${progress.position} has passed ${seq}`);
            }
            const { replay } = webhook;
            const position = progress.position;
            webhook = { ...webhook, position, replay: replay && position <= replay.to ? replay : null };
            queue.confirm(progress);
            return;
          }
          case 'retry': {
            const known = recorded.get(one.seq);
            if (!known) return;
            recorded.set(one.seq, { ...known, status: 'waiting', attempts: 0, dueMs: nowMs });
            queue.merge(openDeliveries());
            return;
          }
          case 'replay': {
            const frontier = webhook.replay?.resume ?? webhook.position;
            if (one.from > frontier || inFlight.length > 0) return; // what is under way ends first
            const to = Math.max(one.from + one.length, webhook.replay?.to ?? 0);
            webhook = {
              ...webhook,
              position: Math.min(webhook.position, one.from - 1),
              replay: to < frontier ? { to, resume: frontier } : null,
            };
            for (const { seq, status } of [...recorded.values()]) {
              if (status === 'waiting' && seq >= one.from && seq <= one.from + one.length) recorded.delete(seq);
            }
            queue = begin();
            return;
          }
          case 'crash':
            inFlight = [];
            queue = begin();
            return;
          case 'wait':
            nowMs += one.ms;
        }
      }
    }),
    { numRuns: 500 },
  );
});

type Step =
  | { does: 'read' | 'send' | 'record' | 'crash' }
  | { does: 'finish'; at: number; delivered: boolean; code: number; quick: boolean }
  | { does: 'retry'; seq: number }
  | { does: 'replay'; from: number; length: number }
  | { does: 'wait'; ms: number };
