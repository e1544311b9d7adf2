import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SharedNumbers } from './shared-numbers.ts';
import { parseRate, printRate, type Rate, takeFromBucket } from './token-bucket.ts';

function createBuckets(maxKeys: number) {
  const buckets = new SharedNumbers(maxKeys);
  return (key: string, rate: Rate, nowMs: number) => takeFromBucket(buckets, key, rate, nowMs);
}

test('parseRate() accepts a number per second, minute or hour, and printRate() prints it', () => {
  for (const text of ['1/s', '100/s', '600/m', '5000/h', '1000000/s']) {
    assert.equal(printRate(parseRate(text) ?? { count: 0, periodMs: 0 }), text);
  }
  for (const text of [
    '',
    '100',
    '0/s',
    '-1/s',
    '1.5/s',
    '01/s',
    '1/d',
    '100 /s',
    '100/sec',
    '1000001/s',
    '9999999/s',
  ]) {
    assert.equal(parseRate(text), undefined, text);
  }
});

test('A bucket grants the requests of one period at once, then steadily, and reports the next time', () => {
  const take = createBuckets(10);
  const rate = { count: 3, periodMs: 3000 };
  const at = (nowMs: number) => take('x', rate, nowMs);
  assert.deepEqual(at(1000), { granted: true, remaining: 2, nextMs: 1000 });
  assert.deepEqual(at(1000), { granted: true, remaining: 1, nextMs: 1000 });
  assert.deepEqual(at(1000), { granted: true, remaining: 0, nextMs: 1000 });
  assert.deepEqual(at(1400), { granted: false, remaining: 0, nextMs: 600 });
  assert.deepEqual(at(1990), { granted: false, remaining: 0, nextMs: 10 });
  assert.deepEqual(at(2000), { granted: true, remaining: 0, nextMs: 1000 });
  assert.deepEqual(at(60_000), { granted: true, remaining: 2, nextMs: 1000 });
  assert.equal(take('y', rate, 1000).remaining, 2, 'each key has its own bucket');
});

test('A bucket never grants more than one period plus the elapsed time allows', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 200 }),
      fc.constantFrom(1000, 60_000),
      fc.array(fc.double({ min: 0, max: 500, noNaN: true }), { minLength: 1, maxLength: 400 }),
      (count, periodMs, gaps) => {
        const take = createBuckets(10);
        let nowMs = 5;
        let granted = 0;
        for (const gap of gaps) {
          nowMs += gap;
          if (take('x', { count, periodMs }, nowMs).granted) granted++;
        }
        const most = count + ((nowMs - 5) / periodMs) * count;
        assert.ok(granted <= most + 1.01, `${granted} of ${most}`);
      },
    ),
  );
});

test('The buckets that are full first are forgotten, so a key over its rate stays limited', () => {
  const take = createBuckets(100);
  const rate = { count: 10, periodMs: 1000 };
  for (let n = 0; n < 10; n++) take('busy', rate, 1000);
  for (let n = 0; n < 10_000; n++) take(`key ${n}`, rate, 1000);
  assert.equal(take('busy', rate, 1000).granted, false);
});
