// Tests a store whose URL names a primary and its standby, while the standby takes over.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needsPostgres, openPostgres, queryPostgres, startPostgres, startStandby } from '../../../testing/postgres.ts';
import { eventually } from '../../../testing/until.ts';

const BY = { tokenId: 'tok_1' };

test('New connections skip a standby, and find it after it was promoted', needsPostgres, async (t) => {
  const primary = await startPostgres();
  t.after(() => primary.remove());
  await (await openPostgres(primary.url)).close(); // creates the schema
  const standby = await startStandby(primary);
  t.after(() => standby.remove());

  const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`;
  const store = await openPostgres(`postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`);
  t.after(() => store.close());
  await store.create({ id: 1n, name: 'on the primary' }, BY);
  assert.equal((await queryPostgres(primary.url, 'SELECT FROM plants')).length, 1);

  await primary.stop();
  await assert.rejects(store.create({ id: 2n, name: 'nowhere' }, BY), { code: 'unavailable' });
  await queryPostgres(standby.url, 'SELECT pg_promote()');
  await eventually(() => store.create({ id: 3n, name: 'on the new primary' }, BY));
  assert.deepEqual(await queryPostgres(standby.url, 'SELECT id FROM plants WHERE id = 3'), [{ id: 3n }]);
  const snapshot = await store.export();
  assert.ok((await Array.fromAsync(snapshot.plants)).some(({ id }) => id === 3n));
});
