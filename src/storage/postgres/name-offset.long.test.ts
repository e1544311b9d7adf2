// Tests offsets in the order by name in a store that is large enough to count names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeDatabase, needsPostgres, openPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { WORTH_COUNTING } from './name-offset.ts';

const PLANTS = 2 * WORTH_COUNTING + 5000;

for (const [title, nameOf] of [
  ['different names in random order', "'Name ' || md5(n::text)"],
  ['two names', "'Name ' || n % 2"],
]) {
  test(`an offset by name finds its plant among ${title}`, needsPostgres, async () => {
    const url = await makeDatabase();
    await queryPostgres(
      url,
      `INSERT INTO plants (id, name, created, updated, seq)
       SELECT n, ${nameOf}, 1, 1, n FROM generate_series(1, ${PLANTS}) AS n`,
    );
    await queryPostgres(url, `UPDATE numbering SET plant_count = ${PLANTS}`);
    const [stored] = await queryPostgres(
      url,
      'SELECT array_agg(id ORDER BY lower(name) COLLATE "C", id)::text[] AS ids FROM plants',
    );
    const byName = stored?.ids as string[];
    const store = await openPostgres(url);
    for (const sort of ['name', '-name'] as const) {
      const ids = sort === 'name' ? byName : byName.toReversed();
      for (const offset of [
        1,
        WORTH_COUNTING,
        WORTH_COUNTING + 2,
        PLANTS / 2,
        PLANTS / 2 + 1,
        PLANTS - WORTH_COUNTING - 1,
      ]) {
        const { records } = await store.list({ sort, offset, limit: 3 });
        assert.deepEqual(
          records.map(({ id }) => String(id)),
          ids.slice(offset, offset + 3),
          `${sort} ${offset}`,
        );
      }
    }
    await store.close();
  });
}
