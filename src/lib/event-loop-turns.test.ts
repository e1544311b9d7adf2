import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlants } from '../files/plant-files.ts';
import { nextEventLoopTurn } from './event-loop-turns.ts';

/** Counts the turns of the event loop. */
function countTurns(): { now(): number; stop(): void } {
  let turns = 0;
  let immediate = setImmediate(count);
  function count(): void {
    turns++;
    immediate = setImmediate(count);
  }
  return { now: () => turns, stop: () => clearImmediate(immediate) };
}

test('nextEventLoopTurn() runs one piece of work per turn, and serves callers in rotation', async () => {
  const turns = countTurns();
  const done: [worker: number, turn: number][] = [];
  const work = async (worker: number) => {
    for (let piece = 0; piece < 4; piece++) {
      await nextEventLoopTurn();
      done.push([worker, turns.now()]);
    }
  };
  await Promise.all([0, 1, 2].map(work));
  turns.stop();
  assert.equal(new Set(done.map(([, turn]) => turn)).size, done.length, 'two in one turn');
  assert.deepEqual(
    done.map(([worker]) => worker),
    [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2],
  );
});

test('Files that are read concurrently take turns', async () => {
  const turns = countTurns();
  const read: number[] = [];
  const file = async function* () {
    yield Buffer.from('x\n'.repeat(3500));
  };
  const readAll = async () => {
    for await (const { errors } of readPlants('ndjson', file())) if (errors.length > 0) read.push(turns.now());
  };
  await Promise.all([readAll(), readAll(), readAll()]);
  turns.stop();
  assert.ok(read.length >= 12, `${read.length} pieces`);
  assert.equal(new Set(read).size, read.length, 'two in one turn');
});
