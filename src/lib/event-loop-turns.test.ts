import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextEventLoopTurn, paced } from './event-loop-turns.ts';

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

/** Yields `count` items that are ready at once, each after a millisecond of work. */
async function* workingItems(count: number): AsyncGenerator<number> {
  for (let item = 0; item < count; item++) {
    const endMs = performance.now() + 1;
    while (performance.now() < endMs);
    yield item;
  }
}

for (const [title, items, wanted] of [
  ['without paced(), a source that is always ready ends no turn of the event loop', workingItems(60), 0],
  [
    'paced() yields the same items, and ends a turn after at most some milliseconds of work',
    paced(workingItems(60)),
    6,
  ],
] as const) {
  test(title, async () => {
    const turns = countTurns();
    const seen: number[] = [];
    for await (const item of items) seen.push(item);
    turns.stop();
    assert.deepEqual(seen, [...Array(60).keys()]);
    assert.ok(wanted === 0 ? turns.now() === 0 : turns.now() >= wanted, `${turns.now()} turns`);
  });
}

test('the callers of different holders alternate', async () => {
  const order: string[] = [];
  const callers = ['a', 'a', 'a', 'b', 'b', 'c'].map((holder) =>
    nextEventLoopTurn(holder).then(() => order.push(holder)),
  );
  await Promise.all(callers);
  assert.deepEqual(order, ['a', 'b', 'c', 'a', 'b', 'a']);
});
