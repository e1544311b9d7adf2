import assert from 'node:assert/strict';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import threadsOfNode from 'node:worker_threads';
import { makeFolder } from '../../../testing/server.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
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

test('the thread can start before the first search', async (t) => {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  const searcher = createThreadedSearch(path);
  let threads = 0;
  const count = () => void threads++;
  process.on('worker', count);
  t.after(() => process.off('worker', count));
  searcher.prepare();
  searcher.prepare();
  await nextEventLoopTurn(); // Node reports a new thread at the end of the turn
  assert.equal(threads, 1, 'threads before the first search');
  assert.deepEqual(await searcher.list({ q: 'x' }), { records: [] });
  assert.equal(threads, 1, 'threads after the first search');
  await searcher.close();
});

test('a search is unavailable while the system refuses a thread, and preparing it has no effect', async (t) => {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  const searcher = createThreadedSearch(path);
  const refusing = t.mock.method(threadsOfNode, 'Worker', function refuse() {
    throw new Error('EAGAIN');
  });
  syncBuiltinESMExports();
  searcher.prepare();
  await assert.rejects(searcher.list({ q: 'x' }), { code: 'unavailable', message: /raise the limits on threads/ });
  await assert.rejects(searcher.count({ q: 'x' }), { code: 'unavailable' });
  refusing.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual(await searcher.list({ q: 'x' }), { records: [] });
  await searcher.close();
});

test('a search is unavailable if the thread cannot open the database', async () => {
  const searcher = createThreadedSearch(join(makeFolder(), 'none.db'));
  await assert.rejects(searcher.list({ q: 'x' }), { code: 'unavailable' });
});
