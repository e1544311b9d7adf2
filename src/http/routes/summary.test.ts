// Tests of the summary: both databases return the same counts, and concurrent HTTP requests share one result.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import { createCheck } from '../../../testing/description.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { callerOf } from '../../../testing/request.ts';
import { makeFolder } from '../../../testing/server.ts';
import { startTestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';
import type { Summary } from '../../domain/plant-summary.ts';
import type { Store } from '../../domain/store.ts';
import { openPostgresStore } from '../../storage/postgres/store.ts';
import { skipNumbers } from '../../storage/sqlite/change-numbers.ts';
import { openSqliteStore } from '../../storage/sqlite/store.ts';
import { createCachedResult } from './cached-summary.ts';

const HOUR_MS = 3_600_000;
const by = { tokenId: 'tok_1' };
/** A time in the middle of an hour. */
const NOW_MS = Date.UTC(2026, 10, 15, 19, 30);
/** The first hour in the summary is the 719th before the current one. */
const AGES: [hoursAgo: number, changes: number][] = [
  [2000, 3],
  [719.6, 2],
  [719.4, 5],
  [719.3, 1],
  [100, 7],
  [99.9, 300],
  [1, 1],
  [0.1, 40],
  [0, 1],
];
const EXPECTED: Summary['changes'] = [
  hourOf('2026-10-16T20:00:00.000Z', 6),
  hourOf('2026-11-11T15:00:00.000Z', 307),
  hourOf('2026-11-15T18:00:00.000Z', 1),
  hourOf('2026-11-15T19:00:00.000Z', 41),
];

function hourOf(hour: string, created: number, updated = 0, deleted = 0): Summary['changes'][number] {
  return { hour, changes: created + updated + deleted, created, updated, deleted };
}

interface Opened {
  store: Store;
  /** Does the same as a restore. */
  skip(): Promise<void>;
}

async function openOnSqlite(clock: () => number): Promise<Opened> {
  const path = join(makeFolder(), 'plants.db');
  const fail = () => assert.fail('the store failed');
  const store = await openSqliteStore({ path, role: 'server', observe() {}, onFailure: fail, clock });
  return {
    store,
    async skip() {
      const db = new DatabaseSync(path);
      skipNumbers(db);
      db.close();
    },
  };
}

async function openOnPostgres(clock: () => number): Promise<Opened> {
  const url = await makeDatabase();
  const store = await openPostgresStore({ url, poolSize: 4, statementTimeoutMs: 10_000, observe() {}, clock });
  return { store, skip: async () => void (await queryPostgres(url, 'SELECT skip_change_numbers()')) };
}

for (const [name, open, needs] of [
  ['SQLite', openOnSqlite, {}],
  ['PostgreSQL', openOnPostgres, needsPostgres],
] as const) {
  test(`changes are counted per hour for the last 30 days, on ${name}`, needs, async () => {
    let nowMs = NOW_MS;
    const { store, skip } = await open(() => nowMs);
    assert.deepEqual(await store.summary(), { plants: 0, untagged: 0, tags: [], lastChange: 0, changes: [] });
    let id = 0n;
    for (const [hoursAgo, changes] of AGES) {
      nowMs = NOW_MS - hoursAgo * HOUR_MS;
      const plants = Array.from({ length: changes }, () => ({ id: id++, name: 'x' }));
      await store.import(plants, by);
      if (hoursAgo === 99.9) for (let restores = 0; restores < 2; restores++) await skip();
    }
    const summary = await store.summary();
    assert.deepEqual(summary.changes, EXPECTED);
    assert.deepEqual([summary.plants, summary.untagged, summary.tags], [360, 360, []]);
    const { lastSeq } = await store.stats();
    assert.ok(lastSeq >= 2_000_000_360);
    assert.equal(summary.lastChange, lastSeq);

    await store.pruneChanges(NOW_MS - 50 * HOUR_MS);
    assert.deepEqual((await store.summary()).changes, EXPECTED.slice(2));
    await store.pruneChanges(NOW_MS + HOUR_MS);
    const { changes, lastChange, plants } = await store.summary();
    assert.deepEqual({ changes, lastChange, plants }, { changes: [], lastChange: lastSeq, plants: 360 });
    await store.close();
  });
}

for (const [name, open, needs] of [
  ['SQLite', openOnSqlite, {}],
  ['PostgreSQL', openOnPostgres, needsPostgres],
] as const) {
  test(
    `changes are counted by type, also when counts repeat while changes come and go, on ${name}`,
    needs,
    async () => {
      let nowMs = NOW_MS;
      const { store, skip } = await open(() => nowMs);
      const create = (from: number, to: number) =>
        store.import(
          Array.from({ length: to - from }, (_, n) => ({ id: BigInt(from + n), name: 'x' })),
          by,
        );
      const changesNow = async () => (await store.summary()).changes;
      await create(0, 4500); // more than two slices
      await store.put(1n, { name: 'y' }, by);
      await store.patch(1n, { name: 'z' }, by);
      await store.delete(2n, by);
      const first = hourOf('2026-11-15T19:00:00.000Z', 4500, 2, 1);
      assert.deepEqual(await changesNow(), [first]);
      assert.deepEqual(await changesNow(), [first], 'nothing counts twice');

      await skip();
      nowMs += HOUR_MS;
      await store.delete(3n, by);
      await create(5000, 5002);
      const second = hourOf('2026-11-15T20:00:00.000Z', 2, 0, 1);
      assert.deepEqual(await Promise.all([changesNow(), changesNow()]), [
        [first, second],
        [first, second],
      ]);
      await store.put(1n, { name: 'late' }, by);
      assert.deepEqual(await changesNow(), [first, { ...second, changes: 4, updated: 1 }]);

      nowMs -= HOUR_MS; // the clock was set back: the change counts in its own hour
      await store.delete(4n, by);
      assert.deepEqual(await changesNow(), [
        { ...first, changes: 4504, deleted: 2 },
        { ...second, changes: 4, updated: 1 },
      ]);
      nowMs += 719 * HOUR_MS;
      assert.equal((await changesNow()).length, 2);
      nowMs += HOUR_MS;
      assert.deepEqual(await changesNow(), [{ ...second, changes: 4, updated: 1 }], 'the first hour is too old');
      nowMs -= HOUR_MS;
      assert.equal((await changesNow()).length, 2, 'the clock was set back');

      await store.pruneChanges(NOW_MS + HOUR_MS / 2);
      await create(6000, 6001);
      assert.deepEqual(await changesNow(), [
        hourOf('2026-11-15T19:00:00.000Z', 0, 0, 1), // a prune ends before the first newer change
        { ...second, changes: 4, updated: 1 },
        hourOf('2026-12-15T18:00:00.000Z', 1),
      ]);
      await store.close();
    },
  );

  test(
    `tags that are too long are omitted, and all tags are omitted if there are too many, on ${name}`,
    needs,
    async () => {
      const { store } = await open(Date.now);
      await store.import(
        [
          { id: -3n, name: 'x', tag: 'é'.repeat(512) },
          { id: -2n, name: 'x', tag: 'é'.repeat(513) },
          { id: -1n, name: 'x' },
        ],
        by,
      );
      const { plants, untagged, tags } = await store.summary();
      assert.deepEqual(
        { plants, untagged, tags },
        { plants: 3, untagged: 1, tags: [{ tag: 'é'.repeat(512), plants: 1 }] },
      );
      const many = Array.from({ length: 10_000 }, (_, n) => ({ id: BigInt(n), name: 'x', tag: `${n % 9999}` }));
      await store.import(many, by);
      assert.deepEqual((await store.summary()).tags[0], { tag: '0', plants: 2 });
      await store.create({ id: 10_000n, name: 'x', tag: 'one more' }, by);
      const last = await store.summary();
      assert.deepEqual([last.plants, last.untagged, last.tags], [10_004, 1, []]);
      await store.close();
    },
  );
}

test('a stop does not wait for a count, and waiting clients get 503', async () => {
  const server = await startTestService();
  const plants = Array.from({ length: 20_000 }, (_, n) => ({ id: BigInt(n), name: 'x', tag: `${n}` }));
  for (let at = 0; at < plants.length; at += 1000) await server.store.import(plants.slice(at, at + 1000), by);
  const counting = callerOf(server, server.secret)('GET', '/plants/summary');
  await new Promise((resolve) => setTimeout(resolve, 5)); // the request has arrived, and counting takes longer
  await server.stop();
  const { status, body } = await counting;
  assert.ok(status === 200 || (status === 503 && /The service is stopping/.test(body)), `${status} ${body}`);
});

test('a store that is closed during a count rejects the count and closes cleanly', async () => {
  const { store } = await openOnSqlite(Date.now);
  await store.import(
    Array.from({ length: 20_000 }, (_, n) => ({ id: BigInt(n), name: 'x', tag: `${n}` })),
    by,
  );
  const counting = assert.rejects(store.summary(), {
    code: 'unavailable',
    message: 'The service is stopping. Retry later.',
  });
  await store.close();
  await counting;
});

test('GET /plants/summary is cached for some seconds by the service, and by no other cache', async () => {
  const server = await startTestService();
  const call = callerOf(server, server.secret);
  await call('POST', '/plants', '{"id":1,"name":"x","tag":"t"}');
  const first = await call('GET', '/plants/summary');
  (await createCheck(server.port))('GET', '/plants/summary', first);
  assert.deepEqual([first.status, first.headers['cache-control']], [200, 'no-store']);
  assert.deepEqual(JSON.parse(first.body).tags, [{ tag: 't', plants: 1 }]);
  await call('POST', '/plants', '{"id":2,"name":"x","tag":"t"}');
  assert.equal((await call('GET', '/plants/summary')).body, first.body);
  await server.stop();
});

test('concurrent and soon repeated requests share one result, and a failed count is retried', async () => {
  let calls = 0;
  const ended: PromiseWithResolvers<number>[] = [];
  const recent = createCachedResult({ keepMs: 50, waitMs: 60_000 }, () => {
    calls++;
    const end = Promise.withResolvers<number>();
    ended.push(end);
    return end.promise;
  });
  const [one, other] = [recent(), recent()];
  assert.equal(one, other);
  ended[0]?.reject(new Error('no'));
  await assert.rejects(one, /no/);
  await until(async () => {
    void recent().catch(() => {});
    return calls === 2;
  });
  const second = recent();
  ended[1]?.resolve(2);
  assert.equal(await second, 2);
  assert.equal(await recent(), 2);
  assert.equal(calls, 2);
  const endMs = performance.now() + 5000;
  while (calls === 2 && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    void recent();
  }
  assert.equal(calls, 3);
});

test('a slow count continues in the background, and is not started again by each request', async () => {
  const ended: PromiseWithResolvers<number>[] = [];
  const recent = createCachedResult({ keepMs: 0, waitMs: 20 }, () => {
    const end = Promise.withResolvers<number>();
    ended.push(end);
    return end.promise;
  });
  const started = async (counts: number) => {
    await until(async () => {
      await recent().catch(() => {});
      return ended.length === counts;
    });
  };
  const startedMs = performance.now();
  await assert.rejects(recent(), { code: 'unavailable' });
  await assert.rejects(recent(), { code: 'unavailable' });
  assert.equal(ended.length, 1);
  const [tookMs, failedMs] = [performance.now() - startedMs, performance.now()];
  ended[0]?.reject(new Error('a timeout'));
  await started(2);
  assert.ok(performance.now() - failedMs > tookMs / 2, 'another count started at once');
  ended[1]?.resolve(7);
  await until(async () => (await recent().catch(() => 0)) === 7);
  await started(3);
  assert.equal(await recent(), 7, 'the last result, while a new one is counted');
  assert.equal(ended.length, 3);
});

test('a count takes as long as it needs on PostgreSQL, and no connection of the pool', needsPostgres, async () => {
  const url = await makeDatabase();
  const store = await openPostgresStore({ url, poolSize: 1, statementTimeoutMs: 100, observe() {} });
  await store.create({ id: 1n, name: 'x' }, by);
  const locker = new pg.Client(url);
  await locker.connect();
  await locker.query('BEGIN; LOCK TABLE plants');
  const counting = store.summary();
  counting.catch(() => {});
  await assert.rejects(store.get(1n), { code: 'unavailable' }); // after the timeout of statements
  await assert.rejects(store.get(1n), { code: 'unavailable' });
  await locker.query('COMMIT');
  assert.equal((await counting).plants, 1);
  await locker.end();
  await store.close();
});
