import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toIsoTime } from './iso-time.ts';

test('toIsoTime() formats every time like Date', () => {
  const times = fc.oneof(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), fc.integer());
  fc.assert(
    fc.property(times, (timeMs) => {
      assert.equal(toIsoTime(timeMs), new Date(timeMs).toISOString());
    }),
    { numRuns: 2000 },
  );
  for (const text of [
    '2000-02-29',
    '1900-03-01',
    '2100-02-28',
    '0000-01-01',
    '0000-03-01',
    '-000001-12-31',
    '+010000-01-01',
  ]) {
    const timeMs = Date.parse(`${text}T00:00:00.000Z`);
    for (const ms of [timeMs, timeMs - 1, timeMs + 0.5]) assert.equal(toIsoTime(ms), new Date(ms).toISOString());
  }
  assert.throws(() => toIsoTime(Number.NaN), RangeError);
});
