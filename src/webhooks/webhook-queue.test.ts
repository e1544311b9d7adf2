import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../domain/change.ts';
import type { DeliveryRecord, OpenDelivery, Progress, StoredWebhook } from '../domain/webhook.ts';
import type { Entry } from './per-plant-queue.ts';
import type { Outcome } from './receiver-client.ts';
import { type Courier, createCourier, RETRY_AFTER_MS } from './webhook-queue.ts';

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

function courierAt(
  position = 0,
  open: OpenDelivery[] = [],
  more: Partial<StoredWebhook> = {},
  maxOpen = 1000,
): Courier {
  return createCourier(webhookAt(position, more), open, { maxOpen, random: () => 0.5 });
}

function change(seq: number, plantId: number, type: Change['type'] = 'plant.created'): Change {
  return { seq, type, time: '', plant: { id: BigInt(plantId), name: `v${seq}` }, token: 'cli' };
}

/** Opens the window, so that several can be under way. */
function warmUp(courier: Courier, firstSeq: number, count: number): void {
  for (let seq = firstSeq; seq < firstSeq + count; seq++) {
    courier.take([change(seq, -seq)], 0);
    courier.finish(courier.next(0) as Entry, OK, 0);
  }
}

function allNext(courier: Courier, nowMs = 0): number[] {
  const seqs: number[] = [];
  for (let entry = courier.next(nowMs); entry; entry = courier.next(nowMs)) seqs.push(entry.seq);
  return seqs;
}

test('a webhook that was read anew counts from the next change on', () => {
  const courier = courierAt();
  courier.take([change(1, 1, 'plant.created')], 0);
  courier.webhook = webhookAt(0, { events: ['plant.deleted'], epoch: 3 });
  courier.take([change(2, 2, 'plant.created'), change(3, 3, 'plant.deleted')], 0);
  assert.equal(courier.finish(courier.next(0) as Entry, OK, 0), 'delivered');
  assert.deepEqual(allNext(courier), [3]);
  assert.equal(courier.progress(0, true)?.epoch, 3);
});

test('when the clock is set, what waits does so neither longer nor shorter', () => {
  for (const stepMs of [-24 * HOUR_MS, 24 * HOUR_MS]) {
    const courier = courierAt();
    const nowMs = 100 * HOUR_MS;
    courier.take([change(1, 1)], nowMs);
    courier.finish(courier.next(nowMs) as Entry, FAILED, nowMs);
    assert.equal(courier.next(nowMs + 4999), undefined);
    courier.shift(stepMs);
    assert.equal(courier.next(nowMs + stepMs + 4999), undefined);
    assert.equal(courier.next(nowMs + stepMs + 5000)?.seq, 1);
    assert.equal(courier.progress(nowMs, true)?.failing?.sinceMs, nowMs + stepMs);
  }
});

test('a clock that is put forward by a week does not disable a webhook that has just begun to fail', () => {
  const courier = courierAt();
  courier.take([change(1, 1)], 0);
  courier.finish(courier.next(0) as Entry, FAILED, 0);
  courier.shift(168 * HOUR_MS);
  const entry = courier.next(168 * HOUR_MS + 5000) as Entry;
  assert.equal(courier.finish(entry, FAILED, 168 * HOUR_MS + 5000), 'failed');
  assert.equal(courier.progress(0, true)?.disabledMs, null);
});

test('a delivery is tried after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, and is a dead letter then', () => {
  const courier = courierAt();
  courier.take([change(1, 1)], 0);
  let nowMs = 0;
  const waits: number[] = [];
  for (;;) {
    const entry = courier.next(nowMs) as Entry;
    const result = courier.finish(entry, FAILED, nowMs);
    if (result === 'dead') break;
    assert.equal(courier.next(entry.dueMs - 1), undefined, 'it came too early');
    waits.push(entry.dueMs - nowMs);
    nowMs = entry.dueMs;
  }
  assert.deepEqual(waits, [5000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)]);
  const [record] = courier.progress(nowMs, true)?.records ?? [];
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
    const courier = createCourier(webhookAt(0), [], { maxOpen: 10, random: () => random });
    courier.take([change(1, 1)], 0);
    const entry = courier.next(0) as Entry;
    courier.finish(entry, FAILED, 0);
    assert.equal(entry.dueMs, (RETRY_AFTER_MS[0] as number) * factor);
  }
});

test('Retry-After makes a wait longer, never shorter; with 429 and 503 everything waits', () => {
  for (const [code, retryAfterMs, dueMs, othersWait] of [
    [429, 60_000, 60_000, true],
    [503, 60_000, 60_000, true],
    [500, 60_000, 60_000, false],
    [429, 1000, 5000, true],
  ] as const) {
    const courier = courierAt();
    warmUp(courier, 1, 3);
    courier.take([change(10, 1), change(11, 2)], 0);
    const entry = courier.next(0) as Entry;
    courier.finish(entry, { ...FAILED, code, retryAfterMs }, 0);
    assert.equal(entry.dueMs, dueMs);
    assert.equal(courier.next(retryAfterMs - 1)?.seq, othersWait ? undefined : 11);
    if (othersWait) assert.ok(courier.next(retryAfterMs));
  }
});

test('changes of one plant go one after the other, those of others at the same time', () => {
  const courier = courierAt();
  warmUp(courier, 1, 5);
  courier.take([change(10, 1), change(11, 1), change(12, 2), change(13, 1)], 0);
  const first = courier.next(0) as Entry;
  assert.equal(first.seq, 10);
  assert.deepEqual(allNext(courier), [12]);
  courier.finish(first, OK, 0);
  assert.deepEqual(allNext(courier), [11]);
});

test('behind a delivery that waits, those of its plant wait, and the position passes them', () => {
  const courier = courierAt();
  warmUp(courier, 1, 5);
  courier.take([change(10, 1), change(11, 1), change(12, 2)], 0);
  const first = courier.next(0) as Entry;
  const other = courier.next(0) as Entry;
  courier.finish(first, FAILED, 0);
  courier.finish(other, OK, 0);
  courier.take([change(13, 1)], 0);
  assert.deepEqual(allNext(courier), []);
  const progress = courier.progress(0, true);
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
    const entry = courier.next(5000) as Entry;
    assert.equal(entry.seq, seq);
    assert.equal(courier.next(5000), undefined);
    assert.equal(entry.change, undefined, 'what waits is not kept in memory');
    courier.finish(entry, OK, 5000);
  }
});

test('the position never passes what is neither delivered nor recorded', () => {
  const courier = courierAt();
  warmUp(courier, 1, 5);
  courier.take([change(10, 1), change(11, 2), change(12, 3, 'plant.deleted')], 0);
  const [first, second] = [courier.next(0) as Entry, courier.next(0) as Entry];
  courier.finish(second, OK, 10);
  assert.equal(courier.progress(10, true)?.position, 9);
  assert.equal(courier.progress(1500, true)?.position, 12, 'what is slow is put aside');
  assert.ok(courier.progress(1500, true)?.records.some(({ seq, status }) => seq === 10 && status === 'waiting'));
  courier.finish(first, OK, 1600);
  assert.ok(courier.progress(1600, true)?.records.some(({ seq, status }) => seq === 10 && status === 'delivered'));
});

test('after a restart it goes on with what was recorded, and with what was not', () => {
  const open = [
    { seq: 3, plantId: 1n, attempts: 2, dueMs: 5000 },
    { seq: 6, plantId: 1n, attempts: 0, dueMs: 0 },
  ];
  const courier = courierAt(4, open);
  courier.take([change(5, 2), change(6, 1), change(7, 1)], 0);
  assert.deepEqual(allNext(courier), [5]);
  assert.equal(courier.next(5000), undefined, 'one at a time until it is known to be quick');
});

test('it takes no more than it may have open', () => {
  const courier = courierAt(0, [], {}, 3);
  courier.take([change(1, 1), change(2, 2), change(3, 3), change(4, 4)], 0);
  assert.equal(courier.readTo, 3);
  assert.equal(courier.wantsMore(0), false);
  courier.finish(courier.next(0) as Entry, OK, 0);
  courier.take([change(4, 4)], 0);
  assert.equal(courier.readTo, 4);
});

test('requests under way grow with quick answers to 32, and shrink with failures and slow answers to 1', () => {
  const courier = courierAt();
  warmUp(courier, 1, 100);
  courier.take(
    Array.from({ length: 64 }, (_, n) => change(200 + n, n)),
    0,
  );
  const underWay: Entry[] = [];
  for (let entry = courier.next(0); entry; entry = courier.next(0)) underWay.push(entry);
  assert.equal(underWay.length, 32);
  for (const entry of underWay) courier.finish(entry, { ...OK, durationMs: 2000 }, 0);
  assert.equal(allNext(courier).length, 1);
});

test('new changes are tried less and less often while all fails, up to every 5 min, and at once again after a success', () => {
  const courier = courierAt();
  let nowMs = 0;
  let seq = 0;
  const triedMs: number[] = [];
  while (nowMs < HOUR_MS) {
    if (courier.wantsMore(nowMs)) courier.take([change(++seq, seq)], nowMs);
    const entry = courier.next(nowMs);
    if (!entry) {
      nowMs += 250;
      continue;
    }
    if (entry.attempts === 0) triedMs.push(nowMs);
    nowMs++;
    courier.finish(entry, { ...FAILED, code: 503 }, nowMs);
  }
  const gaps = triedMs.slice(1).map((ms, at) => ms - (triedMs[at] as number));
  assert.ok(triedMs.length < 30, `${triedMs.length} were tried`);
  assert.ok(Math.max(...gaps) >= 299_000 && Math.max(...gaps) <= 302_000, String(Math.max(...gaps)));
  assert.equal(courier.progress(nowMs, true)?.failing?.sinceMs, 1);
  nowMs += 24 * HOUR_MS;
  courier.finish(courier.next(nowMs) as Entry, OK, nowMs);
  assert.equal(courier.wantsMore(nowMs), true);
  assert.equal(courier.progress(nowMs, true)?.failing, null);
});

test('when a receiver that was down answers again, all that waits is tried at once; what fails then keeps its schedule', () => {
  const courier = courierAt();
  warmUp(courier, 1, 5);
  courier.take([change(10, 1), change(11, 2), change(12, 3), change(13, 3)], 0);
  for (const entry of [1, 2, 3].map(() => courier.next(0) as Entry)) courier.finish(entry, FAILED, 100);
  const due = [10, 11, 12].map((seq) => {
    const entry = courier.next(5100) as Entry;
    assert.equal(entry.seq, seq);
    courier.finish(entry, { ...FAILED, ...(seq === 12 && { retryAfterMs: HOUR_MS }) }, 5100);
    return entry.dueMs;
  });
  assert.equal(courier.isDown, true);
  courier.take([change(14, 4)], 7000);
  courier.finish(courier.next(7000) as Entry, OK, 7000);
  assert.equal(courier.isDown, false);
  const poison = courier.next(7000) as Entry;
  assert.equal(poison.seq, 10);
  courier.finish(poison, FAILED, 7000);
  assert.deepEqual([poison.dueMs, poison.attempts], [due[0], 2], 'an attempt too many does not count');
  courier.finish(courier.next(7000) as Entry, OK, 7000);
  assert.deepEqual(allNext(courier, 300_000), [], 'one is not due, the other not before the receiver wants it');
  assert.deepEqual(allNext(courier, due[0]), [10]);
});

test('whatever some plants do to it, the others get theirs: in an hour of hangs, or of failures', () => {
  for (const [poisons, tookMs] of [
    [1, 15_000],
    [3, 15_000],
    [10, 15_000],
    [10, 5],
  ] as const) {
    const courier = courierAt();
    const endsMs = new Map<Entry, number>();
    let [seq, delivered, failures] = [0, 0, 0];
    for (let nowMs = 0; nowMs < HOUR_MS / 4; nowMs += 100) {
      while (courier.wantsMore(nowMs) && seq < nowMs / 100) {
        seq++;
        courier.take([change(seq, seq <= poisons ? -seq : seq)], nowMs);
      }
      for (let entry = courier.next(nowMs); entry; entry = courier.next(nowMs)) {
        endsMs.set(entry, nowMs + (entry.plantId < 0n ? tookMs : 5));
      }
      for (const [entry, endMs] of endsMs) {
        if (endMs > nowMs) continue;
        endsMs.delete(entry);
        const isGood = entry.plantId > 0n;
        courier.finish(entry, isGood ? OK : { ...FAILED, durationMs: tookMs }, nowMs);
        if (isGood) delivered++;
        else failures++;
      }
    }
    assert.ok(delivered > 8500, `${poisons} × ${tookMs} ms: ${delivered} of 9000 were delivered`);
    assert.ok(failures <= 5 * poisons, `${poisons} × ${tookMs} ms: ${failures} attempts failed`);
  }
});

test('what somebody wants again while it is under way is tried again at once, as often as a new one', () => {
  const courier = courierAt(9, [{ seq: 3, plantId: 3n, attempts: 9, dueMs: 0 }]);
  const entry = courier.next(100) as Entry;
  courier.merge([{ seq: 3, plantId: 3n, attempts: 0, dueMs: 150 }]);
  courier.finish(entry, FAILED, 200);
  assert.deepEqual([entry.attempts, entry.dueMs], [0, 200]);
  assert.equal(courier.next(200)?.seq, 3);

  const waiting = courierAt(9, [{ seq: 3, plantId: 3n, attempts: 9, dueMs: 0 }]);
  waiting.merge([{ seq: 3, plantId: 3n, attempts: 0, dueMs: 150 }]);
  const second = waiting.next(200) as Entry;
  waiting.finish(second, FAILED, 200);
  assert.equal(second.attempts, 1, 'also when it was due already');
});

test('in a replay, what waits after it of the same plant waits until it is reached', () => {
  const courier = courierAt(0, [{ seq: 2, plantId: 1n, attempts: 1, dueMs: 0 }], { replay: { to: 1, resume: 2 } }, 1);
  assert.equal(courier.next(10), undefined);
  assert.equal(courier.wantsMore(10), true, 'it counts only what was reached');
  courier.take([change(1, 1), change(2, 1)], 10);
  const first = courier.next(10) as Entry;
  assert.equal(first.seq, 1);
  courier.finish(first, OK, 10);
  assert.equal(courier.next(10)?.seq, 2);
});

test('one change that fails beside others that succeed keeps its schedule', () => {
  const courier = courierAt();
  courier.take([change(1, 1)], 0);
  courier.finish(courier.next(0) as Entry, FAILED, 0);
  courier.finish(courier.next(5000) as Entry, FAILED, 5000);
  for (let seq = 2; seq < 20; seq++) {
    courier.take([change(seq, seq)], 6000);
    courier.finish(courier.next(6000) as Entry, OK, 6000);
  }
  assert.equal(courier.next(300_000), undefined);
  assert.equal(courier.next(305_000)?.seq, 1);
});

test('a clock that is put back does not hold up what is new', () => {
  const courier = courierAt();
  const nowMs = 48 * HOUR_MS;
  for (let seq = 1; seq <= 4; seq++) {
    courier.take([change(seq, seq)], nowMs);
    const entry = courier.next(nowMs + 1000 * seq) as Entry;
    assert.equal(entry.seq, seq);
    courier.finish(entry, { ...FAILED, ...(seq === 4 && { code: 429, retryAfterMs: 60_000 }) }, nowMs + 1000 * seq);
  }
  courier.take([change(5, 5)], nowMs);
  assert.equal(courier.next(nowMs + 63_000), undefined);
  assert.equal(courier.next(nowMs - 28 * HOUR_MS)?.seq, 5);
});

test('410 disables it, and so do 5 days of nothing but failures; what waits stays', () => {
  const gone = courierAt();
  gone.take([change(1, 1), change(2, 2)], 0);
  gone.finish(gone.next(0) as Entry, { ...FAILED, code: 410 }, 7);
  const progress = gone.progress(7, true);
  assert.deepEqual([progress?.disabledMs, progress?.failing?.reason], [7, 'The receiver answered 410 (gone)']);
  assert.equal(gone.next(HOUR_MS), undefined);

  const late = courierAt();
  warmUp(late, 1, 3);
  late.take([change(10, 1), change(11, 2), change(12, 3)], 0);
  const [first, second, third] = [1, 2, 3].map(() => late.next(0) as Entry) as [Entry, Entry, Entry];
  late.finish(first, { ...FAILED, code: 410 }, 7);
  late.finish(second, OK, 8);
  late.finish(third, FAILED, 9);
  assert.equal(late.progress(9, true)?.failing?.reason, 'The receiver answered 410 (gone)', 'it stays the reason');

  const failing = courierAt(0, [], { failing: { sinceMs: 0, reason: 'x' } });
  failing.take([change(1, 1)], 0);
  failing.finish(failing.next(0) as Entry, FAILED, 119 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, null);
  failing.finish(failing.next(120 * HOUR_MS) as Entry, FAILED, 120 * HOUR_MS);
  assert.equal(failing.progress(0, true)?.disabledMs, 120 * HOUR_MS);
  assert.match(failing.progress(0, true)?.failing?.reason ?? '', /^Nothing but failures for 5 days/);
});

test('a replay sends its range, then what is new', () => {
  const courier = courierAt(2, [], { replay: { to: 4, resume: 9 } });
  warmUp(courier, 0, 0);
  courier.take([change(3, 3), change(4, 4), change(5, 5)], 0);
  assert.equal(courier.readTo, 9);
  for (const seq of [3, 4]) {
    const entry = courier.next(0) as Entry;
    assert.equal(entry.seq, seq);
    assert.equal(courier.progress(0, true)?.position ?? 2, seq - 1);
    courier.finish(entry, OK, 0);
  }
  assert.equal(courier.progress(0, true)?.position, 9);
  courier.take([change(10, 10)], 0);
  assert.deepEqual(allNext(courier), [10]);
});

test('a replay whose range is followed by nothing that is there any more goes on where it was, never back', () => {
  const courier = courierAt(20, [], { replay: { to: 3, resume: 10 } });
  courier.take([], 0);
  assert.equal(courier.readTo, 20);
});

test('merge() takes what somebody wants again into what is under way', () => {
  const courier = courierAt(9, [{ seq: 3, plantId: 3n, attempts: 4, dueMs: HOUR_MS }]);
  courier.take([change(10, 1)], 0);
  const underWay = courier.next(0) as Entry;
  courier.merge([
    { seq: 2, plantId: 2n, attempts: 0, dueMs: 5 },
    { seq: 3, plantId: 3n, attempts: 0, dueMs: 5 },
    { seq: 10, plantId: 1n, attempts: 0, dueMs: 5 },
  ]);
  assert.equal(courier.inFlight, 1);
  courier.finish(underWay, OK, 5);
  assert.deepEqual(allNext(courier, 5), [3, 2]);
});

test('merge() does not take what was recorded while it was read', () => {
  const open = { seq: 3, plantId: 3n, attempts: 0, dueMs: 0 };
  const courier = courierAt(9, [open]);
  courier.finish(courier.next(0) as Entry, OK, 5);
  courier.startReading();
  courier.confirm(courier.progress(10, true) as Progress);
  courier.merge([open]);
  assert.equal(courier.next(10), undefined, 'it was delivered');
  courier.startReading();
  courier.merge([open]);
  assert.equal(courier.next(10)?.seq, 3, 'somebody wants it once more');
});

test('confirm() forgets what was recorded, and not what has come since', () => {
  const courier = courierAt();
  courier.take([change(1, 1)], 0);
  const entry = courier.next(0) as Entry;
  courier.finish(entry, FAILED, 0);
  const given = courier.progress(0, true);
  const again = courier.next(5000) as Entry;
  courier.finish(again, OK, 5000);
  if (given) courier.confirm(given);
  assert.deepEqual(
    courier.progress(5000, true)?.records.map(({ status }) => status),
    ['delivered'],
  );
  const last = courier.progress(5000, true);
  if (last) courier.confirm(last);
  assert.equal(courier.progress(5000, true), undefined);
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
      let courier = begin();
      let underWay: Entry[] = [];
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

      function begin(): Courier {
        return createCourier(webhook, openDeliveries(), { maxOpen, random: () => 0.5 });
      }

      function openDeliveries(): DeliveryRecord[] {
        return [...recorded.values()].filter(({ status }) => status === 'waiting').sort((a, b) => a.seq - b.seq);
      }

      function run(one: Step): void {
        switch (one.does) {
          case 'read':
            if (courier.wantsMore(nowMs)) courier.take(all.slice(courier.readTo, courier.readTo + 4), nowMs);
            return;
          case 'send': {
            const entry = courier.next(nowMs);
            if (!entry) return;
            const earlier = wanted.filter(({ plant, seq }) => plant.id === entry.plantId && seq < entry.seq);
            for (const { seq } of earlier) assert.ok(settled.has(seq), `${entry.seq} was sent before ${seq} was done`);
            assert.ok(!underWay.some(({ plantId }) => plantId === entry.plantId), 'two of one plant at once');
            underWay.push(entry);
            return;
          }
          case 'finish': {
            const [entry] = underWay.splice(one.at % Math.max(1, underWay.length), 1);
            if (!entry) return;
            const outcome = one.delivered ? OK : { ...FAILED, code: one.code };
            const result = courier.finish(entry, { ...outcome, durationMs: one.quick ? 5 : 3000 }, nowMs);
            if (result !== 'failed') settled.add(entry.seq);
            return;
          }
          case 'record': {
            const progress = courier.progress(nowMs, true);
            if (!progress) return;
            for (const record of progress.records) recorded.set(record.seq, record);
            for (const { seq } of wanted.filter(({ seq }) => seq <= progress.position)) {
              assert.ok(recorded.has(seq), `the position ${progress.position} has passed ${seq}`);
            }
            const { replay } = webhook;
            const position = progress.position;
            webhook = { ...webhook, position, replay: replay && position <= replay.to ? replay : null };
            courier.confirm(progress);
            return;
          }
          case 'retry': {
            const known = recorded.get(one.seq);
            if (!known) return;
            recorded.set(one.seq, { ...known, status: 'waiting', attempts: 0, dueMs: nowMs });
            courier.merge(openDeliveries());
            return;
          }
          case 'replay': {
            const frontier = webhook.replay?.resume ?? webhook.position;
            if (one.from > frontier || underWay.length > 0) return; // what is under way ends first
            const to = Math.max(one.from + one.length, webhook.replay?.to ?? 0);
            webhook = {
              ...webhook,
              position: Math.min(webhook.position, one.from - 1),
              replay: to < frontier ? { to, resume: frontier } : null,
            };
            for (const { seq, status } of [...recorded.values()]) {
              if (status === 'waiting' && seq >= one.from && seq <= one.from + one.length) recorded.delete(seq);
            }
            courier = begin();
            return;
          }
          case 'crash':
            underWay = [];
            courier = begin();
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
