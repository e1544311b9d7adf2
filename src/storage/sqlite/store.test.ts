import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder, query } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Store } from '../../domain/store.ts';
import type { Observe, ServiceEvent } from '../../observability/service-events.ts';
import { openSqliteStore } from './store.ts';

let clockMs = 1_000;

async function open(
  path = join(makeFolder(), 'plants.db'),
  observe: Observe = () => {},
): Promise<{ store: Store; path: string }> {
  const store = await openSqliteStore({
    path,
    role: 'server',
    observe,
    onFailure: () => assert.fail('the store failed'),
    clock: () => clockMs,
  });
  return { store, path };
}

test('create() stores the plant and its change in one transaction, with the token and the time', async () => {
  const { store, path } = await open();
  clockMs = 1_700_000_000_123;
  const created = await store.create({ id: 9223372036854775807n, name: 'Été', tag: 'tree' }, { tokenId: 'tok_1' });
  await store.close();
  assert.deepEqual(created, { seq: 1, replayed: false });
  assert.deepEqual(query(path, 'SELECT * FROM plants'), [
    {
      id: 9223372036854775807n,
      name: 'Été',
      tag: 'tree',
      created: 1_700_000_000_123n,
      updated: 1_700_000_000_123n,
      seq: 1n,
    },
  ]);
  assert.deepEqual(query(path, 'SELECT * FROM changes'), [
    {
      seq: 1n,
      type: 'plant.created',
      time: 1_700_000_000_123n,
      plant_id: 9223372036854775807n,
      name: 'Été',
      tag: 'tree',
      token_id: 'tok_1',
      previous: null,
      plant_count: 1n,
    },
  ]);
});

test('openSqliteStore() rejects a file that lacks a column, and releases its lock', async () => {
  const { store, path } = await open();
  await store.close();
  const rename = (from: string, to: string) => {
    const db = new DatabaseSync(path);
    db.exec(`ALTER TABLE old_secrets RENAME COLUMN ${from} TO ${to}`);
    db.close();
  };
  rename('secret_hash', 'other');
  await assert.rejects(
    open(path),
    /^UserError: The schema of .*plants\.db has another definition of the table "old_secrets"/,
  );
  rename('other', 'secret_hash');
  await (await open(path)).store.close(); // rejects while another server holds the lock
});

test('A write that fails because of a bug does not affect the others in its transaction', async () => {
  const events: ServiceEvent['kind'][] = [];
  const { store, path } = await open(undefined, ({ kind }) => events.push(kind));
  const create = (id: number, name: string) => store.create({ id: BigInt(id), name }, { tokenId: 'tok_1' });
  const db = new DatabaseSync(path);
  db.exec(`CREATE TRIGGER bug BEFORE INSERT ON plants WHEN NEW.name = 'bug' BEGIN SELECT RAISE(ABORT, 'a bug'); END`);
  db.close();
  const names = Array.from({ length: 200 }, (_, id) => (id === 7 || id === 199 ? 'bug' : `fern${id}`));
  const results = await Promise.allSettled(names.map((name, id) => create(id, name)));
  const failed = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  assert.deepEqual(failed, ['Error: Error: a bug', 'Error: Error: a bug']);
  assert.equal((await store.list({ q: 'fern14' })).records.length, 11); // also in the dictionary, which finds prefixes
  await create(7, 'oak');
  const changes = await store.changes({ limit: 1000 });
  assert.deepEqual(
    changes.map(({ seq }) => seq),
    Array.from({ length: 199 }, (_, at) => at + 1),
  );
  await store.close();
  assert.ok(!events.includes('writes_failing'));
});

test('concurrent calls of create() with one id have exactly one winner', async () => {
  const { store, path } = await open();
  const races = Array.from({ length: 200 }, (_, id) =>
    Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => store.create({ id: BigInt(id), name: `by ${n}` }, { tokenId: 'tok_1' })),
    ),
  );
  for (const race of await Promise.all(races)) {
    const won = race.filter((result) => result.status === 'fulfilled');
    assert.equal(won.length, 1);
    assert.equal(won[0]?.value.replayed, false);
  }
  await store.close();
  assert.equal(query(path, 'SELECT * FROM plants').length, 200);
  assert.equal(query(path, 'SELECT DISTINCT plant_id FROM changes').length, 200);
});

test('create() numbers changes without gaps, and never reuses the numbers of pruned changes', async () => {
  const { store, path } = await open();
  await Promise.all(
    Array.from({ length: 50 }, (_, id) => store.create({ id: BigInt(id), name: 'x' }, { tokenId: 'tok_1' })),
  );
  assert.deepEqual(query(path, 'SELECT min(seq) AS min, max(seq) AS max, count(*) AS n FROM changes'), [
    { min: 1n, max: 50n, n: 50n },
  ]);
  assert.equal(await store.pruneChanges(clockMs + 1), 50);
  await store.close();
  const again = await open(path);
  assert.equal((await again.store.create({ id: 1000n, name: 'x' }, { tokenId: 'tok_1' })).seq, 51);
  await again.store.close();
});

const MAX_QUEUED = 10_000;

test('create() rejects writes with 503 when the queue is full, stores none of them, and recovers', async () => {
  const { store, path } = await open();
  const results = await Promise.allSettled(
    Array.from({ length: 12_000 }, (_, id) => store.create({ id: BigInt(id), name: 'x' }, { tokenId: 'tok_1' })),
  );
  const stored = results.filter((result) => result.status === 'fulfilled').length;
  const rejected = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason);
  assert.equal(stored, MAX_QUEUED); // including those of the batch in progress
  assert.ok(rejected.every((error) => error instanceof PlantStoreError && error.code === 'unavailable'));

  const name = 'x'.repeat(60_000);
  const large = await Promise.allSettled(
    Array.from({ length: 400 }, (_, id) => store.create({ id: BigInt(-1 - id), name }, { tokenId: 'tok_1' })),
  );
  const largeStored = large.filter((result) => result.status === 'fulfilled').length;
  assert.equal(largeStored, Math.floor((16 * 1024 * 1024) / name.length));
  assert.equal((await store.create({ id: 20_000n, name: 'x' }, { tokenId: 'tok_1' })).replayed, false);
  await store.close();
  assert.equal(query(path, 'SELECT * FROM plants WHERE id >= 0').length, stored + 1);
});

test('close() commits earlier writes, rejects later ones, and leaves no WAL behind', async () => {
  const { store, path } = await open();
  const pending = Array.from({ length: 3000 }, (_, id) =>
    store.create({ id: BigInt(id), name: 'x' }, { tokenId: 'tok_1' }),
  );
  const closed = store.close();
  await assert.rejects(
    store.create({ id: 9999n, name: 'x' }, { tokenId: 'tok_1' }),
    (error: PlantStoreError) => error.code === 'unavailable',
  );
  await closed;
  await Promise.all(pending);
  assert.equal(existsSync(`${path}-wal`), false);
  assert.equal(query(path, 'SELECT * FROM plants').length, 3000);
});

test('a store adds names that it lacks to the order by name when it is quiet, also after a restart', async () => {
  const { store, path } = await open();
  const creates = Array.from({ length: 2000 }, (_, id) =>
    store.create({ id: BigInt(id), name: `n${id}` }, { tokenId: 'tok_1' }),
  );
  await Promise.all(creates);
  const countNames = () => query(path, 'SELECT * FROM name_order').length;
  await until(() => countNames() === 2000);
  await store.close();
  const db = new DatabaseSync(path);
  db.exec('DELETE FROM name_order; UPDATE numbering SET names_to = 0'); // as after a stop that followed the writes at once
  db.close();
  const { store: again } = await open(path);
  await until(() => countNames() === 2000);
  await again.close();
});

test('probe() commits a transaction and changes no data', async () => {
  const { store, path } = await open();
  const before = query(path, 'PRAGMA user_version');
  await store.probe();
  await store.close();
  const { length } = readdirSync(join(import.meta.dirname, 'migrations'));
  assert.deepEqual(before, [{ user_version: BigInt(length) }]);
  assert.deepEqual(query(path, 'PRAGMA user_version'), before);
});

test('tokens are found by the hash of their secret, listed oldest first, and revoked once', async () => {
  const { store } = await open();
  const token = {
    id: 'tok_b',
    name: 'Ünï',
    scopes: ['plants:read' as const, 'admin' as const],
    createdMs: 5,
    expiresMs: 99,
    revokedMs: null,
    rate: { count: 100, periodMs: 1000 },
    lastUsedMs: null,
    oldSecretUntilMs: null,
  };
  await store.addToken(token, 'hash b');
  await store.addToken({ ...token, id: 'tok_a', createdMs: 4, expiresMs: null }, 'hash a');
  assert.deepEqual(await store.findToken('hash b'), token);
  assert.equal(await store.findToken('hash c'), undefined);
  assert.deepEqual(
    (await store.listTokens()).map(({ id }) => id),
    ['tok_a', 'tok_b'],
  );
  await store.revokeToken('tok_b', 50);
  await store.revokeToken('tok_b', 60);
  assert.equal((await store.findToken('hash b'))?.revokedMs, 50);
  await assert.rejects(store.revokeToken('tok_c', 50), (error: PlantStoreError) => error.code === 'not_found');
  await store.close();
});
