import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_PAGES, withPage } from './plant-pages.ts';

test('a page behind the end of a list that became shorter has the counted rows', () => {
  const total = { plants: 40, isMore: false };
  assert.equal(withPage(NO_PAGES, 9, { records: [], next: undefined, total }).rows, 40);
  assert.equal(withPage(NO_PAGES, 0, { records: [], next: undefined, total: { plants: 0, isMore: false } }).rows, 0);
});
