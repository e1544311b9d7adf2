import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oncePerTurn } from './once-per-turn.ts';

test('All calls in one turn of the event loop run the work once, at the end of the turn', async () => {
  let runs = 0;
  const schedule = oncePerTurn(() => runs++);
  schedule();
  schedule();
  await Promise.resolve();
  schedule();
  assert.equal(runs, 0);
  await new Promise(setImmediate);
  assert.equal(runs, 1);
  schedule();
  await new Promise(setImmediate);
  assert.equal(runs, 2);
});

test('A call from within the work runs it again in the next turn', async () => {
  let runs = 0;
  const schedule = oncePerTurn(() => {
    if (++runs < 2) schedule();
  });
  schedule();
  await new Promise(setImmediate);
  assert.equal(runs, 1);
  await new Promise(setImmediate);
  assert.equal(runs, 2);
});
