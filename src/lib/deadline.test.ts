import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withDeadline } from './deadline.ts';

const LONG_MS = 3_600_000;

test('withDeadline() settles like a promise that settles in time, and clears the timer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isLate = false;
  const onTimeout = () => (isLate = true);
  assert.equal(await withDeadline(Promise.resolve('value'), LONG_MS, onTimeout), 'value');
  await assert.rejects(withDeadline(Promise.reject(new Error('own')), LONG_MS, onTimeout), /own/);
  t.mock.timers.tick(LONG_MS);
  await new Promise(setImmediate);
  assert.equal(isLate, false);
});

test('withDeadline() returns the result of onTimeout if the promise is still pending', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const pending = new Promise<never>(() => {});
  const value = withDeadline(pending, LONG_MS, () => 'late' as const);
  const error = withDeadline(pending, LONG_MS, () => {
    throw new Error('too late');
  });
  t.mock.timers.tick(LONG_MS);
  assert.equal(await value, 'late');
  await assert.rejects(error, /too late/);
});
