import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ticksOf } from './nice-scale.ts';

test('an axis has at most five steps of a round, whole number', () => {
  assert.deepEqual(ticksOf(0), [1, 0]);
  assert.deepEqual(ticksOf(1), [1, 0]);
  assert.deepEqual(ticksOf(7), [8, 6, 4, 2, 0]);
  assert.deepEqual(ticksOf(11), [15, 10, 5, 0]);
  assert.deepEqual(ticksOf(227), [250, 200, 150, 100, 50, 0]);
  assert.deepEqual(ticksOf(120), [125, 100, 75, 50, 25, 0]);
  for (let most = 1; most < 1e9; most = Math.ceil(most * 1.37)) {
    const ticks = ticksOf(most);
    assert.ok(ticks.length <= 6 && (ticks[0] ?? 0) >= most && ticks.every(Number.isInteger), `${most}: ${ticks}`);
  }
});
