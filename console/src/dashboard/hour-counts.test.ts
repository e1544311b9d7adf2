import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barsOf, countBetween, endOfHour, HOUR_MS, type Hours, plantsOverTime, totalOf } from './hour-counts.ts';

const NOW = new Date(2026, 6, 16, 10, 53, 8).getTime(); // No clock is set within the month before.

/** One plant is added per hour for 30 days. */
const HOURS: Hours = Array.from({ length: 720 }, (_, at) => ({
  hour: new Date(endOfHour(NOW) - (720 - at) * HOUR_MS).toISOString(),
  changes: 1,
  created: 1,
  updated: 0,
  deleted: 0,
}));

test('the bars of a period cover it without gaps, and each change counts once', () => {
  for (const [period, bars, changes] of [
    ['24h', 24, 24],
    ['7d', 28, 6 * 24 + 11],
    ['30d', 30, 29 * 24 + 11],
  ] as const) {
    const found = barsOf(HOURS, period, NOW);
    assert.equal(found.length, bars);
    for (const [at, { end }] of found.slice(0, -1).entries()) assert.deepEqual(end, found[at + 1]?.start);
    assert.equal(
      found.reduce((sum, bar) => sum + totalOf(bar), 0),
      changes,
    );
  }
});

test('the last 24 hours include the current one', () => {
  const endMs = endOfHour(NOW);
  assert.equal(totalOf(countBetween(HOURS, endMs - 24 * HOUR_MS, endMs)), 24);
});

test('the number of plants is calculated back from the number now', () => {
  const bars = barsOf(HOURS, '7d', NOW);
  const plants = plantsOverTime(bars, 1000, NOW);
  assert.equal(plants.length, 26); // The two bars of today after 12:00 have not begun.
  assert.deepEqual(plants.slice(-3), [989, 995, 1000]);
});
