// Writes that meet: with each other, with those of other nodes, with locks, and with imports and exports.
// group-commit.long.test.ts has a longer row of writes to one id.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeDatabase, needsPostgres, openPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { until } from '../../../testing/until.ts';
import type { Store } from '../../domain/store.ts';

const BY = { tokenId: 'tok_1' };

suite('writes on PostgreSQL', needsPostgres, () => {
  let url: string;
  let store: Store;
  before(async () => {
    url = await makeDatabase();
    // PostgreSQL looks for a deadlock once, this long after the wait began: by then the other session must wait, too.
    store = await openPostgres(`${url}?options=-c%20deadlock_timeout%3D2s`);
    for (const id of [1n, 2n]) await store.create({ id, name: 'before' }, BY);
  });
  after(() => store.close());

  /** Another session with a transaction. If it meets a deadlock, the other side is the victim. */
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

  test('a deadlock with another session is tried again', async () => {
    const other = await beginElsewhere('SELECT * FROM plants WHERE id = 2 FOR UPDATE');
    const writes = [1n, 2n].map((id) => store.put(id, { name: 'after' }, BY)); // locks 1, and waits for 2
    await oneWaits();
    await other.query('SELECT * FROM plants WHERE id = 1 FOR UPDATE');
    await commit(other);
    for (const { record } of await Promise.all(writes)) assert.equal(record.name, 'after');
    assert.equal((await store.changes({ after: 2 })).length, 2);
  });

  test('a create waits for another one of the same id that is in progress, and sees it', async () => {
    const text = `SELECT * FROM create_plants_1('{7}', '{theirs}', '{NULL}', '{1}', '{tok_2}', '{1}', '{7}')`;
    const other = await beginElsewhere(text);
    const same = store.create({ id: 7n, name: 'theirs' }, BY);
    const different = store.create({ id: 7n, name: 'ours' }, BY);
    different.catch(() => {});
    await oneWaits();
    await commit(other);
    assert.equal((await same).replayed, true);
    await assert.rejects(different, { code: 'id_taken' });
  });

  test('a lock that is held for longer than the statement timeout makes it 503, and nothing is stored', async () => {
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

  test('writes to one id keep their order, however many are in progress', async () => {
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

  test('one write that the database cannot take does not harm the others of its batch', async () => {
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

  test('imports get their turn beside requests, and the other way round, with a single connection', async (t) => {
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

  test('a long row of writes to one id does not hold up another id', async () => {
    let isHotDone = false;
    const hot = Promise.all(Array.from({ length: 100 }, (_, n) => store.put(1n, { name: `version ${n}` }, BY)));
    void hot.then(() => {
      isHotDone = true;
    });
    await store.put(2n, { name: 'first' }, BY);
    await store.put(2n, { name: 'second' }, BY);
    assert.equal(isHotDone, false, 'it waited for all of them');
    await hot;
  });
});
