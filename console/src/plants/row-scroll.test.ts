import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AT_TOP, atRow, MAX_TRACK_PX, type Position, scrolledTo, trackPx, visibleRows } from './row-scroll.ts';

const short = { rows: 1000, rowPx: 42, screenPx: 700 };
const long = { rows: 1_000_000, rowPx: 42, screenPx: 700 };
const maxScrollPx = (measures: typeof long) => trackPx(measures) - measures.screenPx;

test('a short list scrolls as the browser does', () => {
  assert.equal(trackPx(short), 42_000);
  assert.deepEqual(scrolledTo(4200, AT_TOP, short), { scrollPx: 4200, basePx: 0 });
  assert.deepEqual(visibleRows({ scrollPx: 4200, basePx: 0 }, short), { first: 100, end: 117 });
  assert.deepEqual(visibleRows(AT_TOP, { ...short, rows: 3 }), { first: 0, end: 3 });
});

test('dragging the thumb of a long list moves to the proportional row', () => {
  assert.equal(trackPx(long), MAX_TRACK_PX);
  const middle = scrolledTo(maxScrollPx(long) / 2, AT_TOP, long);
  const { first } = visibleRows(middle, long);
  assert.ok(Math.abs(first - 500_000) < 20, `row ${first}`);
});

test('a small move in a long list moves the rows by the same distance', () => {
  const middle = atRow(500_000, long);
  const moved = scrolledTo(middle.scrollPx + 84, middle, long);
  assert.deepEqual(visibleRows(moved, long).first, 500_002);
});

test('a long list reaches its first and its last row by small moves', () => {
  let position: Position = atRow(40, long);
  for (let moves = 0; visibleRows(position, long).first > 0; moves++) {
    assert.ok(moves < 100);
    position = scrolledTo(Math.max(0, position.scrollPx - 100), position, long);
  }
  assert.deepEqual(position, AT_TOP);
  position = atRow(long.rows - 60, long);
  for (let moves = 0; visibleRows(position, long).end < long.rows; moves++) {
    assert.ok(moves < 100);
    position = scrolledTo(Math.min(maxScrollPx(long), position.scrollPx + 100), position, long);
  }
  assert.equal(position.scrollPx, maxScrollPx(long));
});

test('a row can be shown anywhere', () => {
  for (const row of [0, 1, 7, 12_345, 500_000, 999_900]) {
    assert.equal(visibleRows(atRow(row, long), long).first, row);
  }
  assert.equal(visibleRows(atRow(long.rows, long), long).end, long.rows);
});
