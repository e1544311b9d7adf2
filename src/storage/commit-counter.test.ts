import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { CommitCounter } from './commit-counter.ts';

test('next() waits for the next commit of another thread, and returns at once for an earlier one', async () => {
  const commits = new CommitCounter();
  const code = `
    const { workerData: { memory, module } } = require('node:worker_threads');
    import(module).then(({ CommitCounter }) => setTimeout(() => new CommitCounter(memory).add(), 100));`;
  const module = new URL('./commit-counter.ts', import.meta.url).href;
  const count = commits.value;
  new Worker(code, { eval: true, workerData: { memory: commits.memory, module } });
  await commits.next(count); // without a limit: a lost wake-up would end the test
  assert.equal(commits.value, count + 1);
  await commits.next(count);
});

test('next() returns after the given time without a commit', async () => {
  const commits = new CommitCounter();
  await commits.next(commits.value, 20);
  assert.equal(commits.value, 0);
});
