// Tests a store whose URL names a primary and its standby, while the standby takes over.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { needsPostgres, openPostgres, queryPostgres, startPostgres } from '../../../testing/postgres.ts';
import { eventually } from '../../../testing/until.ts';

const BY = { tokenId: 'tok_1' };

test('New connections skip a standby, and find it after it was promoted', needsPostgres, async (t) => {
  const [primary, standby] = await Promise.all([startPostgres(), startPostgres()]);
  t.after(() => Promise.all([primary.remove(), standby.remove()]));
  await (await openPostgres(primary.url)).close(); // creates the schema
  await Promise.all([primary.stop(), standby.stop()]);
  const data = join(standby.folder, 'data');
  rmSync(data, { recursive: true });
  assert.equal(spawnSync('cp', ['-a', join(primary.folder, 'data'), data]).status, 0);
  writeFileSync(join(data, 'standby.signal'), '');
  await Promise.all([primary.start(), standby.start()]);

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
