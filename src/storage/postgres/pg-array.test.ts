import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeEmptyDatabase, needsPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { toArray, toBigints } from './pg-array.ts';

test('PostgreSQL reads arrays in binary format and as text', needsPostgres, async () => {
  const url = await makeEmptyDatabase();
  const integers = [0, 1, -1n, 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n)];
  const texts = ['', 'NULL', null, '{}', 'a"b', 'a\\b', "a'b", ' a,b ', '植🌵'];
  for (const sent of [integers, []]) {
    const [row] = await queryPostgres(url, 'SELECT ($1::bigint[])::text AS integers', toBigints(sent));
    assert.equal(row?.integers, `{${sent.join(',')}}`);
  }
  const [row] = await queryPostgres(url, 'SELECT $1::text[] AS texts', toArray(texts));
  assert.deepEqual(row?.texts, texts);
});
