import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shorterSearches } from './shorter-searches.ts';

test('a search is shortened letter by letter, at most four times, and only in its last word', () => {
  assert.deepEqual(shorterSearches('ficuss'), ['ficus', 'ficu', 'fic', 'fi']);
  assert.deepEqual(shorterSearches('ficus zz'), ['ficus z', 'ficus']);
  assert.deepEqual(shorterSearches('ab '), ['a']);
  assert.deepEqual(shorterSearches('🌵🌵'), ['🌵']);
  assert.deepEqual(shorterSearches('a'), []);
  assert.deepEqual(shorterSearches(''), []);
});
