import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { SharedNumbers } from './shared-numbers.ts';

test('A number that was never set is 0, and update() and add() return the new one', () => {
  const numbers = new SharedNumbers(10);
  assert.equal(numbers.read('a'), 0);
  assert.equal(numbers.add('a', 3), 3);
  assert.equal(
    numbers.update('a', (number) => number * 2),
    6,
  );
  assert.equal(numbers.read('a'), 6);
  assert.equal(numbers.read('b'), 0);
  assert.equal(new SharedNumbers(numbers.memory).read('a'), 6, 'another thread reads the same');
});

test('An error in a change leaves the number and frees the lock', () => {
  const numbers = new SharedNumbers(10);
  numbers.add('a', 1);
  assert.throws(() =>
    numbers.update('a', () => {
      throw new Error('no');
    }),
  );
  assert.equal(numbers.add('a', 1), 2);
});

test('As many keys as announced keep their numbers, and a key too many replaces a small one', () => {
  const numbers = new SharedNumbers(1000);
  for (let n = 1; n <= 1000; n++) numbers.add(`key ${n}`, n);
  const kept = Array.from({ length: 1000 }, (_, n) => numbers.read(`key ${n + 1}`)).filter((number) => number > 0);
  assert.ok(kept.length >= 995, `${kept.length} of 1,000`);
  for (let n = 0; n < 20_000; n++) numbers.add(`other ${n}`, 1);
  assert.ok(numbers.read('key 1000') === 1000 || numbers.read('key 999') === 999);
});

test('No addition of four threads to the same keys is lost', async () => {
  const numbers = new SharedNumbers(10);
  const code = `
    const { workerData: { memory, module } } = require('node:worker_threads');
    import(module).then(({ SharedNumbers }) => {
      const numbers = new SharedNumbers(memory);
      for (let n = 0; n < 50_000; n++) numbers.add(n % 2 === 0 ? 'even' : 'odd', 1);
    });`;
  const workerData = { memory: numbers.memory, module: new URL('./shared-numbers.ts', import.meta.url).href };
  await Promise.all(Array.from({ length: 4 }, async () => once(new Worker(code, { eval: true, workerData }), 'exit')));
  assert.deepEqual([numbers.read('even'), numbers.read('odd')], [100_000, 100_000]);
});
