import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlantFile } from '../../testing/read-plant-file.ts';

test('NDJSON: every invalid line is reported by number, and the others are read', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => (n % 3 === 2 ? `{"id":${n}}` : `{"id":${n},"name":"x"}`));
  const { plants, errors } = await readPlantFile('ndjson', Buffer.from(rows.join('\n')), 777);
  assert.deepEqual(
    plants.map(([line, { id }]) => [line, Number(id)]),
    rows.flatMap((_, n) => (n % 3 === 2 ? [] : [[n + 1, n]])),
  );
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    rows.flatMap((_, n) => (n % 3 === 2 ? [[n + 1, '"name" is missing']] : [])),
  );
});

test('NDJSON: a line that is not JSON has one line number, that of the file, and a column', async () => {
  const file = Buffer.from('{"id":1,"name":"a"}\n{"id":2\r "name":"b"}\n{bad\n');
  const { errors } = await readPlantFile('ndjson', file, 777);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [
      [2, `The line cannot be read as JSON: Expected ',' or '}' after property value in JSON at column 10`],
      [3, `The line cannot be read as JSON: Expected property name or '}' in JSON at column 2`],
    ],
  );
});

test('NDJSON: a key with escapes is read correctly, regardless of keys read before', async () => {
  JSON.parse('{"id":1,"name":"x","\\\\u0":2}'); // after this, V8 would confuse the escaped tag with this key
  const { plants } = await readPlantFile('ndjson', Buffer.from('{"id":1,"name":"x","\\u0074ag":"t"}\n'), 100);
  assert.deepEqual(plants, [[1, { id: 1n, name: 'x', tag: 't' }]]);
});

test('NDJSON: the error for a long array also explains the format', async () => {
  const { errors } = await readPlantFile('ndjson', Buffer.from(`[${'{"id":1,"name":"x"},'.repeat(4000)}1]\n`), 100);
  assert.match(errors[0]?.error.message ?? '', /The line is an array/);
});

test('NDJSON: the error for an array explains the format', async () => {
  const { errors } = await readPlantFile('ndjson', Buffer.from('[{"id":1,"name":"x"}]\n'), 100);
  assert.deepEqual(
    errors.map(({ line, error }) => [line, error.message]),
    [[1, 'The line is an array. Write one plant per line, without brackets.']],
  );
});
