import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Event, isLinearizable, type Operation } from './history.ts';

/** Builds a history from a drawing: each line is a client, and each bar is an operation from its call to its return. */
function draw(...lines: [bars: string, operations: Operation[]][]): Event[] {
  return lines.flatMap(([bars, operations], line) => {
    const found = [...bars.matchAll(/\S+/g)];
    assert.equal(found.length, operations.length);
    return found.map(({ 0: bar, index }, at) => ({
      ...(operations[at] as Operation),
      calledAt: index + line / 100,
      returnedAt: index + bar.length - 0.5 + line / 100,
    }));
  });
}

const create = (name: string, outcome: 'created' | 'replayed' | 'conflict' | 'unknown' = 'created'): Operation => ({
  kind: 'create',
  name,
  outcome,
});
const put = (name: string, outcome: 'stored' | 'unknown' = 'stored'): Operation => ({ kind: 'put', name, outcome });
const remove = (outcome: 'deleted' | 'missing' | 'unknown' = 'deleted'): Operation => ({ kind: 'delete', outcome });
const sees = (name: string): Operation => ({ kind: 'get', outcome: { name } });
const misses: Operation = { kind: 'get', outcome: 'missing' };

const GOOD: [name: string, events: Event[]][] = [
  ['an empty history', []],
  ['sequential operations', draw(['-- -- -- -- --', [misses, create('a'), sees('a'), remove(), misses]])],
  ['a read during a write sees the old value', draw(['----------', [create('a')]], ['   --     ', [misses]])],
  ['a read during a write sees the new value', draw(['----------', [create('a')]], ['   --     ', [sees('a')]])],
  [
    'one of two concurrent creates wins',
    draw(['-----', [create('a')]], [' --- ', [create('b', 'conflict')]], ['       --', [sees('a')]]),
  ],
  ['a repeated create is a replay', draw(['-- -- --', [create('a'), create('a', 'replayed'), sees('a')]])],
  ['a deleted id can be reused', draw(['-- -- --', [create('a'), remove(), create('b')]])],
  ['an unacknowledged write took effect', draw(['-- -- --', [create('a'), put('b', 'unknown'), sees('b')]])],
  ['an unacknowledged write had no effect', draw(['-- -- --', [create('a'), put('b', 'unknown'), sees('a')]])],
  [
    'an unacknowledged write takes effect late',
    draw(['-- -- -- --', [create('a'), put('b', 'unknown'), sees('a'), sees('b')]]),
  ],
  [
    'an unacknowledged create took effect, so the next one is a replay',
    draw(['-- --', [create('a', 'unknown'), create('a', 'replayed')]]),
  ],
  [
    'two concurrent writes, in the order that a reader saw',
    draw(['-------', [put('a')]], ['-------', [put('b')]], ['         -- --', [sees('a'), sees('a')]]),
  ],
];

const BAD: [name: string, events: Event[]][] = [
  ['a read sees a value that no client wrote', draw(['-- --', [create('a'), sees('b')]])],
  ['a stale read, which started after the write returned', draw(['-- -- --', [create('a'), put('b'), sees('a')]])],
  ['an acknowledged record is lost', draw(['-- --', [create('a'), misses]])],
  ['two creates of one id both succeed', draw(['-----', [create('a')]], ['-----', [create('b')]])],
  ['a create of a free id is rejected', draw(['--', [create('a', 'conflict')]])],
  ['a replay of a record that was never stored', draw(['--', [create('a', 'replayed')]])],
  ['a deleted record reappears', draw(['-- -- --', [create('a'), remove(), sees('a')]])],
  [
    'two deletes of one record both succeed',
    draw(['--', [create('a')]], ['   ----', [remove()]], ['   ----', [remove()]]),
  ],
  ['a delete does not find an existing record', draw(['-- --', [create('a'), remove('missing')]])],
  [
    'two readers see two writes in opposite orders',
    draw(
      ['-----------------', [put('a')]],
      ['-----------------', [put('b')]],
      [' -- --', [sees('a'), sees('b')]],
      [' -- --', [sees('b'), sees('a')]],
    ),
  ],
  [
    'an unacknowledged write takes effect and is undone',
    draw(['-- -- -- --', [create('a'), put('b', 'unknown'), sees('b'), sees('a')]]),
  ],
  [
    'a read returns an older value than an earlier read',
    draw(['--            ', [create('a')]], ['   -----------', [put('b')]], ['    -- --   ', [sees('b'), sees('a')]]),
  ],
];

for (const [name, events] of GOOD) test(`linearizable: ${name}`, () => assert.equal(isLinearizable(events), true));
for (const [name, events] of BAD) test(`not linearizable: ${name}`, () => assert.equal(isLinearizable(events), false));

/** Operations on a real variable, each at a moment within its bar. Such a history is linearizable by construction. */
const histories = fc
  .array(
    fc.record({
      kind: fc.constantFrom('create', 'put', 'delete', 'get'),
      name: fc.constantFrom('a', 'b', 'c'),
      calledAt: fc.double({ min: 0, max: 100, noNaN: true }),
      takes: fc.double({ min: 0.1, max: 40, noNaN: true }),
      moment: fc.double({ min: 0, max: 1, noNaN: true }),
      isHeard: fc.boolean(),
    }),
    { maxLength: 12 },
  )
  .map((wanted) => {
    let stored: string | undefined;
    return wanted
      .map((one) => ({ ...one, happensAt: one.calledAt + one.takes * one.moment }))
      .sort((a, b) => a.happensAt - b.happensAt)
      .map(({ kind, name, calledAt, takes, isHeard }): Event => {
        const times = { calledAt, returnedAt: calledAt + takes };
        const before = stored;
        if (kind === 'get') return { kind, outcome: before === undefined ? 'missing' : { name: before }, ...times };
        if (kind === 'create') stored ??= name;
        if (kind === 'put') stored = name;
        if (kind === 'delete') stored = undefined;
        const heard = <T>(outcome: T) => (isHeard ? outcome : 'unknown');
        if (kind === 'put') return { kind, name, outcome: heard('stored'), ...times };
        if (kind === 'delete') return { kind, outcome: heard(before === undefined ? 'missing' : 'deleted'), ...times };
        const outcome = before === undefined ? 'created' : before === name ? 'replayed' : 'conflict';
        return { kind: 'create', name, outcome: heard(outcome), ...times };
      });
  });

test('every history of a real variable is linearizable', () => {
  fc.assert(
    fc.property(histories, (events) => isLinearizable(events)),
    { numRuns: 2000 },
  );
});

test('a read of a value that no client wrote is detected in every history', () => {
  fc.assert(
    fc.property(
      histories,
      (events) => !isLinearizable([...events, { ...sees('z'), calledAt: 0, returnedAt: 1000 } as Event]),
    ),
    { numRuns: 500 },
  );
});
