import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedBy, conflicts, editedFields, toPatch, withDraft } from './merge.ts';

const base = { name: 'Acer', tag: 'tree' };

test('takes what only one side changed', () => {
  const theirs = { name: 'Acer', tag: 'maple' };
  const mine = { name: 'Acer rubrum', tag: 'tree' };
  assert.equal(changedBy('name', base, theirs, mine), 'mine');
  assert.equal(changedBy('tag', base, theirs, mine), 'theirs');
  assert.deepEqual(conflicts(base, theirs, mine), []);
});

test('asks about what both sides changed differently', () => {
  const theirs = { name: 'Acer', tag: 'maple' };
  assert.deepEqual(conflicts(base, theirs, { name: 'Acer', tag: 'orchard' }), ['tag']);
  assert.deepEqual(conflicts(base, theirs, { name: 'Acer', tag: 'maple' }), [], 'the same change on both sides');
  assert.deepEqual(conflicts(base, { name: 'Acer' }, { name: 'Acer', tag: 'orchard' }), ['tag'], 'a removed tag');
});

test('a draft changes only the edited fields', () => {
  assert.deepEqual(withDraft(base, { name: 'Acer rubrum' }), { name: 'Acer rubrum', tag: 'tree' });
  assert.deepEqual(withDraft(base, { tag: undefined }), { name: 'Acer' });
  assert.deepEqual(editedFields(base, { name: 'Acer', tag: undefined }), ['tag'], 'an equal text is no edit');
  assert.deepEqual(editedFields(base, {}), []);
  assert.deepEqual(toPatch(['tag'], { name: 'ignored' }), { tag: null });
  assert.deepEqual(toPatch(['name'], { name: '', tag: 'x' }), { name: '' });
});
