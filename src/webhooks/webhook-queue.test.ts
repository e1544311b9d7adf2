// Tests which delivery a webhook queue sends next, and which progress it saves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allNext, change, FAILED, HOUR_MS, OK, queueAt, warmUp, webhookAt } from '../../testing/webhook-queue.ts';
import type { Progress } from '../domain/webhook-store.ts';
import type { PendingDelivery } from './per-plant-queue.ts';

test('A reloaded webhook applies from the next change on', () => {
  const queue = queueAt();
  queue.addPage([change(1, 1, 'plant.created')], 0);
  queue.webhook = webhookAt(0, { events: ['plant.deleted'], epoch: 3 });
  queue.addPage([change(2, 2, 'plant.created'), change(3, 3, 'plant.deleted')], 0);
  assert.equal(queue.finish(queue.next(0) as PendingDelivery, OK, 0), 'delivered');
  assert.deepEqual(allNext(queue), [3]);
  assert.equal(queue.progress(0, true)?.epoch, 3);
});

test('The queue sends changes of one plant one at a time, and changes of other plants concurrently', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 1), change(12, 2), change(13, 1)], 0);
  const first = queue.next(0) as PendingDelivery;
  assert.equal(first.seq, 10);
  assert.deepEqual(allNext(queue), [12]);
  queue.finish(first, OK, 0);
  assert.deepEqual(allNext(queue), [11]);
});

test('A deferred delivery also defers later ones of its plant, and the position passes them', () => {
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
    assert.equal(delivery.change, undefined, 'deferred changes are not kept in memory');
    queue.finish(delivery, OK, 5000);
  }
});

test('The position never passes a change that is neither delivered nor recorded', () => {
  const queue = queueAt();
  warmUp(queue, 1, 5);
  queue.addPage([change(10, 1), change(11, 2), change(12, 3, 'plant.deleted')], 0);
  const [first, second] = [queue.next(0) as PendingDelivery, queue.next(0) as PendingDelivery];
  queue.finish(second, OK, 10);
  assert.equal(queue.progress(10, true)?.position, 9);
  assert.equal(queue.progress(1500, true)?.position, 12, 'slow deliveries are deferred');
  assert.ok(queue.progress(1500, true)?.records.some(({ seq, status }) => seq === 10 && status === 'waiting'));
  queue.finish(first, OK, 1600);
  assert.ok(queue.progress(1600, true)?.records.some(({ seq, status }) => seq === 10 && status === 'delivered'));
});

test('After a restart the queue resumes with recorded deliveries and with unread changes', () => {
  const open = [
    { seq: 3, plantId: 1n, attempts: 2, dueMs: 5000 },
    { seq: 6, plantId: 1n, attempts: 0, dueMs: 0 },
  ];
  const queue = queueAt(4, open);
  queue.addPage([change(5, 2), change(6, 1), change(7, 1)], 0);
  assert.deepEqual(allNext(queue), [5]);
  assert.equal(queue.next(5000), undefined, 'one request at a time until the first quick response');
});

test('The queue accepts at most maxOpen deliveries', () => {
  const queue = queueAt(0, [], {}, 3);
  queue.addPage([change(1, 1), change(2, 2), change(3, 3), change(4, 4)], 0);
  assert.equal(queue.readTo, 3);
  assert.equal(queue.wantsMore(0), false);
  queue.finish(queue.next(0) as PendingDelivery, OK, 0);
  queue.addPage([change(4, 4)], 0);
  assert.equal(queue.readTo, 4);
});

test('A retry requested during an attempt starts immediately, with zero attempts', () => {
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
  assert.equal(second.attempts, 1, 'also if it was already due');
});

test('During a replay, later deliveries of the same plant wait for the replayed ones', () => {
  const queue = queueAt(0, [{ seq: 2, plantId: 1n, attempts: 1, dueMs: 0 }], { replay: { to: 1, resume: 2 } }, 1);
  assert.equal(queue.next(10), undefined);
  assert.equal(queue.wantsMore(10), true, 'only deliveries up to the position count');
  queue.addPage([change(1, 1), change(2, 1)], 10);
  const first = queue.next(10) as PendingDelivery;
  assert.equal(first.seq, 1);
  queue.finish(first, OK, 10);
  assert.equal(queue.next(10)?.seq, 2);
});

test('A replay sends its range, then new changes', () => {
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

test('At the end of the change log a replay never moves the position back', () => {
  const queue = queueAt(20, [], { replay: { to: 3, resume: 10 } });
  queue.addPage([], 0);
  assert.equal(queue.readTo, 20);
});

test('merge() adds requested retries without disturbing requests in flight', () => {
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

test('merge() ignores deliveries that were recorded during the reload', () => {
  const open = { seq: 3, plantId: 3n, attempts: 0, dueMs: 0 };
  const queue = queueAt(9, [open]);
  queue.finish(queue.next(0) as PendingDelivery, OK, 5);
  queue.startReload();
  queue.confirm(queue.progress(10, true) as Progress);
  queue.merge([open]);
  assert.equal(queue.next(10), undefined, 'it was delivered');
  queue.startReload();
  queue.merge([open]);
  assert.equal(queue.next(10)?.seq, 3, 'a user requested another retry');
});

test('confirm() discards saved progress, but not newer progress', () => {
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
