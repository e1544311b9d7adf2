import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Event, isLinearizable, type Operation } from './history.ts';

/** A history drawn as lines of time: each bar is an operation, from its call to its return. */
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
  ['nothing at all', []],
  ['one after the other', draw(['-- -- -- -- --', [misses, create('a'), sees('a'), remove(), misses]])],
  ['a read during a write sees what was before', draw(['----------', [create('a')]], ['   --     ', [misses]])],
  ['a read during a write sees what is after', draw(['----------', [create('a')]], ['   --     ', [sees('a')]])],
  [
    'of two creates at once one wins',
    draw(['-----', [create('a')]], [' --- ', [create('b', 'conflict')]], ['       --', [sees('a')]]),
  ],
  ['the same create again is a replay', draw(['-- -- --', [create('a'), create('a', 'replayed'), sees('a')]])],
  ['a deleted id is free again', draw(['-- -- --', [create('a'), remove(), create('b')]])],
  ['a lost write that happened', draw(['-- -- --', [create('a'), put('b', 'unknown'), sees('b')]])],
  ['a lost write that did not happen', draw(['-- -- --', [create('a'), put('b', 'unknown'), sees('a')]])],
  ['a lost write that happens late', draw(['-- -- -- --', [create('a'), put('b', 'unknown'), sees('a'), sees('b')]])],
  [
    'a lost create that happened makes the next one a replay',
    draw(['-- --', [create('a', 'unknown'), create('a', 'replayed')]]),
  ],
  [
    'two writes at once in either order, as one reader saw them',
    draw(['-------', [put('a')]], ['-------', [put('b')]], ['         -- --', [sees('a'), sees('a')]]),
  ],
];

const BAD: [name: string, events: Event[]][] = [
  ['a read that sees what nobody wrote', draw(['-- --', [create('a'), sees('b')]])],
  ['a stale read: it began after the write was over', draw(['-- -- --', [create('a'), put('b'), sees('a')]])],
  ['an acknowledged record that is lost', draw(['-- --', [create('a'), misses]])],
  ['two winners of one id', draw(['-----', [create('a')]], ['-----', [create('b')]])],
  ['a create that is refused without a reason', draw(['--', [create('a', 'conflict')]])],
  ['a replay of what was never stored', draw(['--', [create('a', 'replayed')]])],
  ['a deleted record that comes back', draw(['-- -- --', [create('a'), remove(), sees('a')]])],
  ['two deletes of one record', draw(['--', [create('a')]], ['   ----', [remove()]], ['   ----', [remove()]])],
  ['a delete that misses what is there', draw(['-- --', [create('a'), remove('missing')]])],
  [
    'two readers that see two writes in opposite orders',
    draw(
      ['-----------------', [put('a')]],
      ['-----------------', [put('b')]],
      [' -- --', [sees('a'), sees('b')]],
      [' -- --', [sees('b'), sees('a')]],
    ),
  ],
  [
    'a lost write that happens, and is undone',
    draw(['-- -- -- --', [create('a'), put('b', 'unknown'), sees('b'), sees('a')]]),
  ],
  [
    'a read that goes back to before a write that another read has seen',
    draw(['--            ', [create('a')]], ['   -----------', [put('b')]], ['    -- --   ', [sees('b'), sees('a')]]),
  ],
];

for (const [name, events] of GOOD) test(`can have happened: ${name}`, () => assert.equal(isLinearizable(events), true));
for (const [name, events] of BAD)
  test(`cannot have happened: ${name}`, () => assert.equal(isLinearizable(events), false));

/** Operations on a real variable, each at a moment within its bar; what comes out is linearizable by construction. */
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

test('whatever happens to a real variable can have happened', () => {
  fc.assert(
    fc.property(histories, (events) => isLinearizable(events)),
    { numRuns: 2000 },
  );
});

test('a read of what nobody has written is found in any of these histories', () => {
  fc.assert(
    fc.property(
      histories,
      (events) => !isLinearizable([...events, { ...sees('z'), calledAt: 0, returnedAt: 1000 } as Event]),
    ),
    { numRuns: 500 },
  );
});
