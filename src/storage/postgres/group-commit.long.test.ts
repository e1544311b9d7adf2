// Runs a longer form of a case in group-commit.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, needsPostgres, openPostgres } from '../../../testing/postgres.ts';

const BY = { tokenId: 'tok_1' };

test('500 queued writes to one id do not delay writes to another id', needsPostgres, async () => {
  const store = await openPostgres(await makeDatabase());
  const hot = Array.from({ length: 500 }, (_, n) => store.put(1n, { name: `version ${n}` }, BY));
  await store.put(2n, { name: 'first' }, BY);
  await store.put(2n, { name: 'second' }, BY);
  const isDone = await Promise.race([Promise.all(hot).then(() => true), sleep(0, false)]);
  assert.equal(isDone, false, 'the writes to id 2 waited for all writes to id 1');
  await Promise.all(hot);
  await store.close();
});
