import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSharedLimits, memoryOf } from './shared-limits.ts';

test('Limits that another thread opens from the memory have the same counts', () => {
  const own = createSharedLimits();
  const others = createSharedLimits(structuredClone(memoryOf(own)));
  for (const name of ['delayedGuesses', 'earlyBytes'] as const) {
    assert.equal(own[name].add(3), 3);
    assert.equal(others[name].add(-1), 2);
    assert.equal(own[name].value, 2);
  }
  for (const name of ['rates', 'guesses', 'counts'] as const) {
    own[name].add('key', 3);
    assert.equal(others[name].read('key'), 3);
  }
});
