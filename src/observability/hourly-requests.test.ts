// Tests of the counts and percentiles per hour.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHourlyRequests as createCounts, describeHours } from './hourly-requests.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 17, 9);

function createHourlyRequests(clock: () => number) {
  const counts = createCounts(clock);
  return { add: counts.add, read: () => describeHours(counts.read()) };
}

test('counts the requests of each hour, with a 99th percentile at most 12.5 % too high', () => {
  let nowMs = START_MS + 1000;
  const hourly = createHourlyRequests(() => nowMs);
  assert.deepEqual(hourly.read(), []);
  for (let ms = 1; ms <= 1000; ms++) hourly.add(ms);
  nowMs += HOUR_MS;
  hourly.add(0);
  hourly.add(undefined);
  nowMs += 2 * HOUR_MS;
  hourly.add(undefined);
  const [first, second, third] = hourly.read();
  assert.deepEqual([first?.startMs, first?.requests], [START_MS, 1000]);
  assert.ok((first?.p99Ms ?? 0) >= 990 && (first?.p99Ms ?? 0) <= 990 * 1.125, String(first?.p99Ms));
  assert.deepEqual(second, { startMs: START_MS + HOUR_MS, requests: 2, p99Ms: 0.001 });
  assert.deepEqual(third, { startMs: START_MS + 3 * HOUR_MS, requests: 1, p99Ms: undefined });
});

test('one slow request in a hundred does not count, two do, and endless ones have a bound', () => {
  for (const [slow, isSlow] of [
    [1, false],
    [2, true],
  ] as const) {
    const hourly = createHourlyRequests(() => START_MS);
    for (let n = 0; n < 100; n++) hourly.add(n < slow ? 1e12 : 1);
    assert.equal(hourly.read()[0]?.p99Ms, isSlow ? 2_150_000 : 1.02);
  }
});

test('keeps 24 hours, and forgets older ones also without new requests', () => {
  let nowMs = START_MS;
  const hourly = createHourlyRequests(() => nowMs);
  for (let hour = 0; hour < 30; hour++, nowMs += HOUR_MS) for (let n = 0; n <= hour; n++) hourly.add(1);
  nowMs -= HOUR_MS;
  assert.deepEqual(
    hourly.read().map(({ requests }) => requests),
    Array.from({ length: 24 }, (_, n) => n + 7),
  );
  nowMs += 23 * HOUR_MS;
  assert.deepEqual(
    hourly.read().map(({ requests }) => requests),
    [30],
  );
  nowMs += HOUR_MS;
  assert.deepEqual(hourly.read(), []);
});
