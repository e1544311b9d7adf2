import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { quickEnough } from '../../../testing/until.ts';
import { openSqliteStore } from './store.ts';

test('ordering long names does not hold up writes', async () => {
  const store = await openSqliteStore({
    path: join(makeFolder(), 'plants.db'),
    role: 'server',
    observe: () => {},
    onFailure: () => assert.fail('the store failed'),
  });
  let id = 0n;
  const names = Array.from({ length: 200 }, (_, at) => `${at} ${'e\u0301'.repeat(20_000)}`); // one takes 8 ms to fold
  await quickEnough(400, async () => {
    await store.import(
      names.map((name) => ({ id: id++, name })),
      { tokenId: 'tok_1' },
    );
    const listed = store.list({ sort: 'name', limit: 1 });
    const startMs = performance.now();
    await store.create({ id: id++, name: 'x' }, { tokenId: 'tok_1' });
    const tookMs = performance.now() - startMs;
    assert.equal((await listed).records[0]?.name, names[0]);
    return tookMs;
  });
  await store.close();
});
