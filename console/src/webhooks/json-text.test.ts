import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indentJson } from './json-text.ts';

test('JSON is indented as JSON.stringify does it', () => {
  const values = [
    { id: 1, name: 'a, {b}: [c] \\" é', tag: null, nested: { list: [1, -2.5e3, true], none: {}, empty: [] } },
    [],
    {},
    'text',
    7,
    [[[]], {}],
  ];
  for (const value of values) assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, undefined, 2));
});

test('numbers of 64 bits stay exact', () => {
  assert.equal(indentJson('{"id":9223372036854775807}'), '{\n  "id": 9223372036854775807\n}');
});

test('other text stays as it is', () => {
  for (const text of ['', '<h1>503</h1>', '{"id":', 'a  b']) assert.equal(indentJson(text), text);
});
