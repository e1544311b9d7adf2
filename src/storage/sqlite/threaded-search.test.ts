import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { prepareDatabase } from './database.ts';
import { createThreadedSearch } from './threaded-search.ts';

test('a search returns a page, or throws the errors of a store', async () => {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  const searcher = createThreadedSearch(path);
  await searcher.close(); // before the thread has started
  assert.deepEqual(await searcher.list({ q: 'x' }), { records: [] });
  await assert.rejects(searcher.list({ q: 'x', cursor: 'x' }), { name: 'PlantStoreError', code: 'bad_parameter' });
  await assert.rejects(searcher.list({ q: 'x'.repeat(1001) }), { code: 'bad_parameter' });
  const [pending] = await Promise.allSettled([searcher.list({ q: 'x' }), searcher.close()]);
  if (pending.status === 'rejected') assert.equal(pending.reason.code, 'unavailable'); // or it completed earlier
  assert.deepEqual(await searcher.list({ q: 'x' }), { records: [] }, 'the next search starts another thread');
  await searcher.close();
});

test('the thread can start before the first search', async () => {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  const searcher = createThreadedSearch(path);
  searcher.prepare();
  searcher.prepare();
  assert.deepEqual(await searcher.list({ q: 'x' }), { records: [] });
  await searcher.close();
});

test('a search is unavailable if the thread cannot open the database', async () => {
  const searcher = createThreadedSearch(join(makeFolder(), 'none.db'));
  await assert.rejects(searcher.list({ q: 'x' }), { code: 'unavailable' });
});
