// Tests that searches take turns by token, and end when their clients leave.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onBothStores } from '../../testing/both-databases.ts';
import type { Store } from '../domain/store.ts';

const PLANTS = 3000;
const SEARCHES = 12;
const q = 'common';

onBothStores('turns of searches', (open) => {
  let store: Store;
  before(async () => {
    store = await open();
    const plants = Array.from({ length: PLANTS }, (_, n) => ({ id: BigInt(n), name: `Common ${n % 7}`, tag: 't' }));
    await store.import(plants, { tokenId: 'tok_1' });
  });
  after(() => store.close());

  test('a search of one token waits for parts of the searches of another token, not for all of them', async () => {
    let done = 0;
    const many = Array.from({ length: SEARCHES }, () => store.count({ q }, { id: 'a' }).then(() => done++));
    assert.deepEqual(await store.count({ q }, { id: 'b' }), { plants: PLANTS, isMore: false });
    assert.ok(done < SEARCHES / 2, `${done} earlier searches of another token are complete`);
    await Promise.all(many);
  });

  test('searches in turn return whole pages in every order', async () => {
    const [byId, ...others] = await Promise.all([
      ...Array.from({ length: 3 }, () => store.list({ q, limit: 1000, offset: 1500 }, { id: 'a' })),
      store.list({ q, limit: 1000, offset: 500, sort: '-id' }, { id: 'b' }),
    ]);
    assert.deepEqual([byId?.records[0]?.id, byId?.records.at(-1)?.id], [1500n, 2499n]);
    assert.deepEqual(others[0], byId);
    assert.deepEqual(
      others.at(-1)?.records.map(({ id }) => id),
      byId?.records.map(({ id }) => id).reverse(),
    );
  });

  test('searches end with the reason when their client leaves', async () => {
    const [gone, reason] = [new AbortController(), new Error('gone')];
    const requester = { id: 'a', signal: gone.signal };
    const left = [
      ...Array.from({ length: SEARCHES }, () => store.count({ q }, requester)),
      store.list({ q, sort: 'name' }, requester),
      store.list({ tag: 't', q, offset: 2000 }, requester),
    ];
    await new Promise(setImmediate);
    gone.abort(reason);
    for (const { status, ...rest } of await Promise.allSettled(left)) {
      assert.deepEqual({ status, ...rest }, { status: 'rejected', reason });
    }
    await assert.rejects(store.list({ q }, requester), reason);
    assert.equal((await store.list({ q }, { id: 'a' })).records.length, 100);
  });
});
