import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSemaphore, type Requester } from './semaphore.ts';

const tooBusy = () => new Error('too busy');

/** Returns a function that runs a task of several parts, and the requesters of all parts in their order. */
function record(options: Partial<Parameters<typeof createSemaphore>[0]> = {}) {
  const run = createSemaphore({ maxConcurrent: 1, maxQueued: 100, tooBusy, ...options });
  const order: string[] = [];
  const inParts = (name: string, parts: number, requester: Requester = { id: name[0] as string }) =>
    run(async (turns) => {
      for (let part = 0; part < parts; part++) {
        await turns.next();
        order.push(name);
      }
    }, requester);
  return { run, order, inParts };
}

test('requesters take turns after each part, however many tasks one of them has queued', async () => {
  const { order, inParts } = record();
  const many = Array.from({ length: 20 }, () => inParts('a', 3));
  await Promise.all([inParts('b', 3), inParts('c', 1)]);
  assert.equal(order.join(''), 'abcabab');
  await Promise.all(many);
  assert.equal(order.length, 64);
});

test('at most four tasks of a requester have begun, and they take turns', async () => {
  const { order, inParts } = record();
  await Promise.all(Array.from({ length: 6 }, (_, n) => inParts(`a${n} `, 2)));
  assert.equal(order.join(''), 'a0 a1 a2 a3 a0 a1 a2 a3 a4 a5 a4 a5 ');
});

test('a task alone runs its parts without a pause, and is told when its turn is over', async () => {
  const { run, inParts } = record();
  let other: Promise<void> | undefined;
  await run(async (turns) => {
    await turns.next();
    assert.equal(turns.isOver(), false);
    other = inParts('b', 1);
    assert.equal(turns.isOver(), true);
    await turns.next();
    assert.equal(turns.isOver(), false);
  });
  await other;
});

test('once its requester is gone, a queued task never begins and one in progress ends after its part', async () => {
  const { order, inParts } = record();
  const [gone, reason] = [new AbortController(), new Error('gone')];
  const left = Array.from({ length: 5 }, () => inParts('a', 9, { id: 'a', signal: gone.signal }));
  const other = inParts('b', 2);
  while (order.length < 3) await new Promise(setImmediate);
  gone.abort(reason);
  for (const { status, ...rest } of await Promise.allSettled(left)) {
    assert.deepEqual({ status, ...rest }, { status: 'rejected', reason });
  }
  await other;
  await inParts('c', 1);
  assert.equal(order.join(''), 'ababc');
  await assert.rejects(inParts('a', 1, { signal: gone.signal }), reason);
});

test('a requester with a full queue is rejected, and others are not', async () => {
  const { order, inParts } = record({ maxQueued: 2 });
  const queued = [inParts('a', 1), inParts('a', 1), inParts('a', 1)];
  await assert.rejects(inParts('a', 1), tooBusy());
  await Promise.all([...queued, inParts('b', 1)]);
  assert.equal(order.join(''), 'abaa');
});

test('a task that waits too long is rejected, and the slot of a failed task is passed on', async () => {
  const { run, order, inParts } = record({ waitMs: 5 });
  const { promise: end, reject } = Promise.withResolvers<void>();
  const first = run(() => end, { id: 'a' });
  await assert.rejects(inParts('b', 1), tooBusy());
  const next = inParts('c', 1);
  reject(new Error('failed'));
  await assert.rejects(first, { message: 'failed' });
  await next;
  await inParts('d', 1);
  assert.equal(order.join(''), 'cd');
});
