import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { AnnouncedBatches } from './announced-batches.ts';

const THREADS = [0, 1];

function waitForAll(announced: AnnouncedBatches): number {
  const startMs = performance.now();
  announced.waitFor(THREADS);
  return performance.now() - startMs;
}

test('The writer does not wait without an announced batch, and a moment for one', () => {
  const announced = new AnnouncedBatches();
  announced.announce(0);
  announced.announce(1);
  announced.announce(2); // a thread for which it does not wait
  assert.ok(waitForAll(announced) >= 0.05);
  announced.withdraw(0);
  assert.ok(waitForAll(announced) >= 0.05);
  announced.withdraw(1);
  const fastest = Math.min(...Array.from({ length: 100 }, () => waitForAll(announced)));
  assert.ok(fastest < 0.5, `${fastest} ms`);
});

test('The writer continues when another thread has sent its batch', async () => {
  const announced = new AnnouncedBatches();
  const code = `
    const { workerData: { memory, module } } = require('node:worker_threads');
    import(module).then(({ AnnouncedBatches }) => {
      const announced = new AnnouncedBatches(memory);
      for (let n = 0; n < 10_000; n++) {
        announced.announce(1);
        announced.withdraw(1);
      }
    });`;
  const workerData = { memory: announced.memory, module: new URL('./announced-batches.ts', import.meta.url).href };
  const ended = once(new Worker(code, { eval: true, workerData }), 'exit');
  let isRunning = true;
  void ended.then(() => {
    isRunning = false;
  });
  while (isRunning) {
    announced.waitFor(THREADS);
    await new Promise(setImmediate);
  }
  assert.ok(Math.min(...Array.from({ length: 100 }, () => waitForAll(announced))) < 0.5, 'a batch is still announced');
});
