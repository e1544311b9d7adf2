// Tests concurrent writes: of one node, of several nodes, with locks, and beside imports. group-commit.long.test.ts
// queues more writes to one id.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeDatabase, needsPostgres, openPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { until } from '../../../testing/until.ts';
import type { Store } from '../../domain/store.ts';
import type { Observe, ServiceEvent } from '../../observability/service-events.ts';
import { joinPostgresStore } from './store.ts';

const BY = { tokenId: 'tok_1' };

suite('writes on PostgreSQL', needsPostgres, () => {
  let url: string;
  let store: Store;
  before(async () => {
    url = await makeDatabase();
    // PostgreSQL checks for a deadlock once, 2 s after the wait starts. By then the other session must wait as well.
    store = await openPostgres(`${url}?options=-c%20deadlock_timeout%3D2s`);
    for (const id of [1n, 2n]) await store.create({ id, name: 'before' }, BY);
  });
  after(() => store.close());

  /** Starts a transaction in another session. In a deadlock, PostgreSQL cancels the other side. */
  async function beginElsewhere(statement: string): Promise<pg.Client> {
    const other = new pg.Client(url);
    await other.connect();
    await other.query(`SET deadlock_timeout = '1min'; BEGIN`);
    await other.query(statement);
    return other;
  }

  async function commit(other: pg.Client): Promise<void> {
    await other.query('COMMIT');
    await other.end();
  }

  function oneWaits(): Promise<unknown> {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return until(async () => (await queryPostgres(url, text))[0]);
  }

  test('the store retries a write after a deadlock with another session', async () => {
    const other = await beginElsewhere('SELECT * FROM plants WHERE id = 2 FOR UPDATE');
    const writes = [1n, 2n].map((id) => store.put(id, { name: 'after' }, BY)); // locks plant 1 and waits for plant 2
    await oneWaits();
    await other.query('SELECT * FROM plants WHERE id = 1 FOR UPDATE');
    await commit(other);
    for (const { record } of await Promise.all(writes)) assert.equal(record.name, 'after');
    assert.equal((await store.changes({ after: 2 })).length, 2);
  });

  test('a create waits for a concurrent create of the same id, and sees its result', async () => {
    const text = `SELECT * FROM create_plants_3('{7}', '{theirs}', '{NULL}', '{NULL}', '{1}', '{tok_2}', '{1}', '{7}')`;
    const other = await beginElsewhere(text);
    const same = store.create({ id: 7n, name: 'theirs' }, BY);
    const different = store.create({ id: 7n, name: 'ours' }, BY);
    different.catch(() => {});
    await oneWaits();
    await commit(other);
    assert.equal((await same).replayed, true);
    await assert.rejects(different, { code: 'id_taken' });
  });

  test('a write that waits for a lock beyond the statement timeout fails with 503 and stores nothing', async () => {
    const impatient = await openPostgres(url, { statementTimeoutMs: 1000 });
    const other = await beginElsewhere('SELECT * FROM plants WHERE id = 7 FOR UPDATE');
    await assert.rejects(impatient.put(7n, { name: 'late' }, BY), {
      code: 'unavailable',
      message: 'The database is busy. Retry later.',
    });
    await commit(other);
    await impatient.close();
    assert.equal((await store.get(7n)).record.name, 'theirs');
  });

  test('failing writes of one thread are reported once, and end with the next commit of any thread', async () => {
    const reports: [kind: ServiceEvent['kind'], order: number | undefined][] = [];
    const observe: Observe = (event) => {
      if ('order' in event) reports.push([event.kind, event.order]);
    };
    const opener = await openPostgres(url, { statementTimeoutMs: 500, observe });
    const joined = await joinPostgresStore(opener.join, { observe });
    const other = await beginElsewhere('SELECT * FROM plants WHERE id = 7 FOR UPDATE');
    for (const thread of [joined, opener]) {
      await assert.rejects(thread.put(7n, { name: 'late' }, BY), { code: 'unavailable' });
    }
    await commit(other);
    assert.deepEqual(reports, [['writes_failing', 1]]);
    await opener.put(8n, { name: 'in time' }, BY);
    await joined.put(8n, { name: 'in time, too' }, BY);
    assert.deepEqual(reports.slice(1), [['writes_recovered', 2]]);
    await joined.close();
    await opener.close();
  });

  test('writes to one id keep their order while many writes are in progress', async () => {
    const writes = Array.from({ length: 300 }, (_, n) => [
      store.put(BigInt(100 + (n % 7)), { name: `version ${n}` }, BY),
      store.create({ id: BigInt(1000 + n), name: 'other' }, BY),
    ]);
    await Promise.all(writes.flat());
    const changes = (await store.changes({ limit: 1000 })).filter(({ plant: { id } }) => id >= 100n && id < 107n);
    for (let id = 100n; id < 107n; id++) {
      const versions = changes.filter(({ plant }) => plant.id === id).map(({ plant }) => Number(plant.name.slice(8)));
      assert.ok(versions.length > 40);
      assert.deepEqual(
        versions,
        versions.toSorted((a, b) => a - b),
      );
    }
  });

  test('a write that the database rejects does not affect the other writes of its batch', async () => {
    await queryPostgres(url, `ALTER TABLE plants ADD CONSTRAINT no_poison CHECK (name <> 'poison')`);
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => store.create({ id: BigInt(5000 + n), name: n === 7 ? 'poison' : 'x' }, BY)),
    );
    assert.deepEqual(
      all.map(({ status }) => status === 'fulfilled'),
      all.map((_, n) => n !== 7),
    );
    await queryPostgres(url, 'ALTER TABLE plants DROP CONSTRAINT no_poison');
  });

  test('imports and requests both make progress with a single connection', async (t) => {
    const store = await openPostgres(url, { poolSize: 1 });
    let done = false;
    let nextId = 10_000n;
    const writers = Array.from({ length: 32 }, async () => {
      while (!done) await store.create({ id: nextId++, name: 'x' }, BY);
    });
    t.after(async () => {
      done = true;
      await Promise.all(writers);
      await store.close();
    });
    const plants = Array.from({ length: 100 }, (_, n) => ({ id: BigInt(-1 - n), name: 'y' }));
    const late = sleep(15_000, 'late', { ref: false });
    assert.notEqual(await Promise.race([store.import(plants, BY), late]), 'late');
    const before = nextId;
    await until(() => nextId > before);
  });

  test('100 queued writes to one id do not delay writes to another id', async () => {
    let isHotDone = false;
    const hot = Promise.all(Array.from({ length: 100 }, (_, n) => store.put(1n, { name: `version ${n}` }, BY)));
    void hot.then(() => {
      isHotDone = true;
    });
    await store.put(2n, { name: 'first' }, BY);
    await store.put(2n, { name: 'second' }, BY);
    assert.equal(isHotDone, false, 'the writes to id 2 waited for all writes to id 1');
    await hot;
  });
});
