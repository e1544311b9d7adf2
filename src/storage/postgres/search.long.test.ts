// Tests searches in more plants than one pass of the index reads.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { makeDatabase, needsPostgres, openPostgres } from '../../../testing/postgres.ts';
import { walk } from '../../../testing/store-walk.ts';

const BY = { tokenId: 'tok_1' };

suite('search on PostgreSQL', needsPostgres, () => {
  test('a search finds words that share a prefix with many others, in any script, with and without the index', async () => {
    const store = await openPostgres(await makeDatabase());
    const plants = Array.from({ length: 12_000 }, (_, n) => ({
      id: BigInt(n),
      name: `chrysanthemum одуванчик ${n % 1000 === 7 ? `Éa${n} ß` : n % 3 ? `a${n} b` : `A${n}-x`}`,
      tag: 't',
    }));
    for (let at = 0; at < plants.length; at += 4000) await store.import(plants.slice(at, at + 4000), BY);
    await store.put(11_990n, { name: 'chrysanthemoides одувыв rare' }, BY);
    await store.put(3n, { name: 'chrysanthemum rare' }, BY);
    const found = async (q: string, limit = 1000) => (await walk(store, { q, limit })).map(({ id }) => Number(id));
    const expected = (holds: (n: number) => boolean) =>
      plants.map((_, n) => n).filter((n) => n !== 3 && n !== 11_990 && holds(n));
    const isOdd = (n: number) => n % 1000 === 7;
    assert.deepEqual(await found('a x b'), []);
    assert.deepEqual(
      await found('a x'),
      expected((n) => !isOdd(n) && n % 3 === 0),
    );
    assert.deepEqual(await found('e s'), expected(isOdd));
    assert.deepEqual(
      await found('a1 b'),
      expected((n) => !isOdd(n) && n % 3 !== 0 && String(n).startsWith('1')),
    );
    for (const limit of [1, 2, 100]) {
      assert.deepEqual(await found('chrysanthemoides', limit), [11_990]);
      assert.deepEqual(await found('одувыв', limit), [11_990]);
      assert.deepEqual(await found('rare chrysanth', limit), [3, 11_990]);
      assert.deepEqual(await found('rare chrysanthemum', limit), [3]);
    }
    await store.close();
  });
});
