// What is particular to PostgreSQL: its schema, its locks, what it refuses.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeDatabase, needsPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { walk } from '../../../testing/store-cases.ts';
import { until } from '../../../testing/until.ts';
import { wordsOf } from '../../domain/name-search.ts';
import type { Store } from '../../domain/store.ts';
import { MANY, tagKey, wordKey } from './index-key.ts';
import { failureOf } from './pg-errors.ts';
import { openPostgresStore } from './store.ts';

const BY = { tokenId: 'tok_1' };

function open(url: string, poolSize = 10): Promise<Store> {
  return openPostgresStore({ url, poolSize, statementTimeoutMs: 5000, observe: () => {} });
}

suite('the schema', needsPostgres, () => {
  test('many nodes that start at once on an empty database make it once', async () => {
    const url = await makeDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(url, 1)));
    await Promise.all(stores.map((store, at) => store.create({ id: BigInt(at), name: 'x' }, BY)));
    assert.equal((await walk(stores[0] as Store, {})).length, 8);
    await Promise.all(stores.map((store) => store.close()));
    const versions = await queryPostgres(url, 'SELECT version FROM plant_store_schema ORDER BY version');
    assert.deepEqual(
      versions.map(({ version }) => version),
      [1, 2, 3, 4],
    );
  });

  test('may be in any schema, whatever its name, which need not be the first of the search path', async () => {
    const url = await makeDatabase();
    const name = `"o'dd $1 %I ""schema"`;
    await queryPostgres(url, `CREATE SCHEMA ${name}`);
    const setPath = (path: string) =>
      queryPostgres(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = ${path}`);
    await setPath(`${name}, public`);
    const stores = [await open(url)];
    await setPath(`public, ${name}`);
    stores.push(await open(url));
    for (const [at, store] of stores.entries()) await store.create({ id: BigInt(at), name: 'x' }, BY);
    for (const store of stores) assert.equal((await walk(store, { q: 'x' })).length, 2);
    await Promise.all(stores.map((store) => store.close()));
    await setPath('nowhere');
    await assert.rejects(open(url), /search_path in PostgreSQL names no schema that exists/);
  });

  test('of the version before is brought up to date, and its nodes go on', async () => {
    const url = await makeDatabase();
    const folder = join(import.meta.dirname, 'migrations');
    const files = readdirSync(folder).sort().slice(0, 3);
    await queryPostgres(url, files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n'));
    await queryPostgres(
      url,
      `CREATE TABLE plant_store_schema (version integer PRIMARY KEY, works_with integer NOT NULL, applied timestamptz NOT NULL DEFAULT now());
       INSERT INTO plant_store_schema VALUES (1, 1), (2, 1), (3, 1)`,
    );
    const createByOldNode = (id: number, name: string) => {
      const words = wordsOf(name).map(wordKey);
      const values = [
        [id],
        [name],
        ['t'],
        [1],
        ['tok'],
        [...words, tagKey('t')],
        [...words, tagKey('t')].map(() => id),
      ];
      return queryPostgres(url, 'SELECT * FROM create_plants_1($1, $2, $3, $4, $5, $6, $7)', ...values);
    };
    const long = `Ficus ${'é'.repeat(3000)}`;
    await createByOldNode(1, long);
    await createByOldNode(2, 'Ficus short');

    const store = await open(url);
    const entries = async (id: number) =>
      (await queryPostgres(url, 'SELECT word FROM words WHERE id = $1 ORDER BY word', id)).map(({ word }) => word);
    assert.deepEqual(await entries(1), [MANY, tagKey('t')], 'one entry stands for all words of a long name');
    assert.deepEqual(await entries(2), [wordKey('ficus'), wordKey('short'), tagKey('t')]);
    await createByOldNode(3, long);
    assert.deepEqual(
      (await walk(store, { q: 'ficus', tag: 't' })).map(({ id }) => id),
      [1n, 2n, 3n],
    );
    await store.delete(3n, BY); // which leaves words behind that the new version knows nothing of
    assert.equal((await entries(3)).length, 2);
    const { seq } = await store.create({ id: 3n, name: 'Ficus again', tag: 't' }, BY);
    assert.ok(seq > 1_000_000_000, 'a dump of the version before may be in two databases');
    assert.deepEqual(
      (await walk(store, { q: 'ficus a' })).map(({ id }) => id),
      [3n],
    );
    await store.close();
  });

  test('webhooks are shared among nodes that stay; one that comes and goes gets none', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    for (let n = 0; n < 6; n++) {
      await store.addWebhook({
        id: `whk_${n}`,
        url: 'https://x.example/',
        events: ['plant.created'],
        secret: '',
        createdMs: 0,
      });
    }
    const claim = async (node: string) => {
      const { webhooks, surplus } = await store.claimWebhooks(node, 20_000);
      return [webhooks.length, surplus];
    };
    assert.deepEqual(await claim('a'), [6, 0], 'the first one gets all');
    for (let waitedMs = 0; waitedMs < 2200; waitedMs += 550) {
      await sleep(550);
      assert.deepEqual(await claim('a'), [6, 0]);
      assert.deepEqual(await claim(`ghost ${waitedMs}`), [0, 0]);
    }
    await claim('b');
    for (let waitedMs = 0; waitedMs < 2200; waitedMs += 550) {
      await sleep(550);
      await claim('b');
    }
    assert.deepEqual(await claim('a'), [6, 3], 'there are two that stay');
    await store.releaseWebhooks('a', ['whk_0', 'whk_1', 'whk_2']);
    assert.deepEqual(await claim('b'), [3, 0]);
    assert.deepEqual(await claim('a'), [3, 0]);
    await store.releaseWebhooks('b');
    assert.deepEqual(await claim('a'), [6, 0], 'what a node gives up is free at once');
    await store.close();
  });

  test('a newer one is used where it says that it still fits, and refused where not', async () => {
    const url = await makeDatabase();
    await (await open(url)).close();
    await queryPostgres(url, 'INSERT INTO plant_store_schema (version, works_with) VALUES (99, 1)');
    await (await open(url)).close();
    await queryPostgres(url, 'UPDATE plant_store_schema SET works_with = 98 WHERE version = 99');
    await assert.rejects(open(url), /^UserError: The database was changed by a newer version \(schema 99,/);
  });

  test('a database that cannot keep every text is refused', async () => {
    const url = await makeDatabase();
    const name = `${url.slice(url.lastIndexOf('/') + 1)}_latin`;
    await queryPostgres(url, `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0`);
    await assert.rejects(open(url.replace(/[^/]+$/, name)), /The encoding of the database is LATIN1/);
  });

  test('a database that forgets commits is refused', async () => {
    const url = await makeDatabase();
    await queryPostgres(url, `ALTER DATABASE ${url.slice(url.lastIndexOf('/') + 1)} SET synchronous_commit = off`);
    await assert.rejects(open(url), /synchronous_commit is off in PostgreSQL/);
  });

  test('other settings of the database do not change what we do', async () => {
    const url = await makeDatabase();
    const name = url.slice(url.lastIndexOf('/') + 1);
    await queryPostgres(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    await queryPostgres(url, `ALTER DATABASE ${name} SET standard_conforming_strings = off`).catch(() => {});
    await queryPostgres(url, `ALTER DATABASE ${name} SET "DateStyle" = 'German'`);
    await queryPostgres(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const store = await open(url);
    const plants = Array.from({ length: 50 }, (_, n) => ({ id: BigInt(n), name: `\\" {NULL} ${n}`, tag: 'NULL' }));
    await Promise.all(plants.map((plant) => store.create(plant, BY)));
    assert.deepEqual(
      (await walk(store, { q: 'null' })).map(({ id, name, tag }) => ({ id, name, tag })),
      plants,
    );
    await store.close();
  });
});

suite('locks', needsPostgres, () => {
  let url: string;
  let store: Store;
  before(async () => {
    url = await makeDatabase();
    store = await open(url);
    for (const id of [1n, 2n]) await store.create({ id, name: 'before' }, BY);
  });
  after(() => store.close());

  function oneWaits(): Promise<unknown> {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    return until(async () => (await queryPostgres(url, text))[0]);
  }

  test('a deadlock with somebody else is tried again', async () => {
    const other = new pg.Client(url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT * FROM plants WHERE id = 2 FOR UPDATE');
    const writes = [1n, 2n].map((id) => store.put(id, { name: 'after' }, BY)); // locks 1, and waits for 2
    await oneWaits();
    await sleep(200);
    await other.query('SELECT * FROM plants WHERE id = 1 FOR UPDATE'); // ours is the victim: it waits longer
    await other.query('COMMIT');
    await other.end();
    for (const { record } of await Promise.all(writes)) assert.equal(record.name, 'after');
    assert.equal((await store.changes({ after: 2 })).length, 2);
  });

  test('a create that another one is just making waits for it, and sees it', async () => {
    const other = new pg.Client(url);
    await other.connect();
    await other.query('BEGIN');
    await other.query(`SELECT * FROM create_plants_1('{7}', '{theirs}', '{NULL}', '{1}', '{tok_2}', '{1}', '{7}')`);
    const same = store.create({ id: 7n, name: 'theirs' }, BY);
    const different = store.create({ id: 7n, name: 'ours' }, BY);
    different.catch(() => {});
    await oneWaits();
    await other.query('COMMIT');
    await other.end();
    assert.equal((await same).replayed, true);
    await assert.rejects(different, { code: 'id_taken' });
  });

  test('who holds a lock for long makes it 503, and nothing is stored', async () => {
    const impatient = await openPostgresStore({ url, poolSize: 4, statementTimeoutMs: 300, observe: () => {} });
    const other = new pg.Client(url);
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT * FROM plants WHERE id = 2 FOR UPDATE');
    await assert.rejects(impatient.put(2n, { name: 'late' }, BY), {
      code: 'unavailable',
      message: 'The database is busy: try again later',
    });
    await other.query('COMMIT');
    await other.end();
    assert.equal((await impatient.get(2n)).record.name, 'after');
    await impatient.close();
  });

  test('writes to one id keep their order, whatever number is under way', async () => {
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
});

suite('fairness', needsPostgres, () => {
  test('imports get their turn beside requests, and the other way round, with a single connection', async (t) => {
    const store = await open(await makeDatabase(), 1);
    let done = false;
    let nextId = 0n;
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
    const store = await open(await makeDatabase());
    const hot = Array.from({ length: 500 }, (_, n) => store.put(1n, { name: `version ${n}` }, BY));
    await store.put(2n, { name: 'first' }, BY);
    await store.put(2n, { name: 'second' }, BY);
    const isDone = await Promise.race([Promise.all(hot).then(() => true), sleep(0, false)]);
    assert.equal(isDone, false, 'it waited for all of them');
    await Promise.all(hot);
    await store.close();
  });

  test('exports that were turned away leave no trace', async () => {
    const store = await open(await makeDatabase(), 1);
    const lists = Array.from({ length: 990 }, () => store.list({ q: 'x' }));
    const exports = await Promise.allSettled(Array.from({ length: 20 }, () => store.export()));
    for (const one of exports) if (one.status === 'fulfilled') one.value.close();
    await Promise.allSettled(lists);
    (await store.export()).close();
    await store.close();
  });
});

suite('search', needsPostgres, () => {
  test('what many different words begin with is found without the index, in any script', async () => {
    const store = await open(await makeDatabase());
    const plants = Array.from({ length: 12_000 }, (_, n) => ({
      id: BigInt(n),
      name: n % 1000 === 7 ? `Éa${n} ß` : n % 3 ? `a${n} b` : `A${n}-c`,
    }));
    for (let at = 0; at < plants.length; at += 4000) await store.import(plants.slice(at, at + 4000), BY);
    const found = async (q: string) => (await walk(store, { q, limit: 1000 })).map(({ id }) => Number(id));
    const expected = (holds: (n: number) => boolean) => plants.map((_, n) => n).filter(holds);
    assert.deepEqual(
      await found('a c'),
      expected((n) => n % 1000 !== 7 && n % 3 === 0),
    );
    assert.deepEqual(
      await found('e s'),
      expected((n) => n % 1000 === 7),
    );
    assert.deepEqual(
      await found('a1 b'),
      expected((n) => n % 1000 !== 7 && n % 3 !== 0 && String(n).startsWith('1')),
    );
    assert.deepEqual(await found('a z'), []);
    await store.close();
  });
});

suite('search among words that begin alike', needsPostgres, () => {
  test('finds the one of many, whatever the page, and goes far ahead where one word is rare', async () => {
    const store = await open(await makeDatabase());
    const plants = Array.from({ length: 12_000 }, (_, n) => ({
      id: BigInt(n),
      name: 'chrysanthemum одуванчик',
      tag: 't',
    }));
    for (let at = 0; at < plants.length; at += 4000) await store.import(plants.slice(at, at + 4000), BY);
    await store.put(11_990n, { name: 'chrysanthemoides одувыв rare' }, BY);
    await store.put(3n, { name: 'chrysanthemum rare' }, BY);
    for (const limit of [1, 2, 100]) {
      const found = async (q: string) => (await walk(store, { q, limit })).map(({ id }) => Number(id));
      assert.deepEqual(await found('chrysanthemoides'), [11_990]);
      assert.deepEqual(await found('одувыв'), [11_990]);
      assert.deepEqual(await found('rare chrysanth'), [3, 11_990]);
      assert.deepEqual(await found('rare chrysanthemum'), [3]);
    }
    await store.close();
  });
});

suite('the log', needsPostgres, () => {
  test('changes are pruned up to the first that is not older; who has seen less is told', async () => {
    const url = await makeDatabase();
    let nowMs = 1000;
    const store = await openPostgresStore({
      url,
      poolSize: 4,
      statementTimeoutMs: 5000,
      observe: () => {},
      clock: () => nowMs,
    });
    for (const ms of [1000, 2000, 5000, 3000]) {
      nowMs = ms;
      await store.create({ id: BigInt(ms), name: 'x' }, BY);
    }
    assert.equal(await store.pruneChanges(4000), 2);
    assert.deepEqual(
      (await store.changes()).map(({ seq }) => seq),
      [3, 4],
    );
    await assert.rejects(store.changes({ after: 1 }), { code: 'changes_pruned' });
    assert.equal((await store.changes({ after: 2 })).length, 2);
    assert.equal(await store.pruneChanges(9000), 2);
    const { seq, close } = await store.export();
    assert.equal(seq, 4);
    close();
    assert.equal((await store.create({ id: 1n, name: 'x' }, BY)).seq, 5);
    await store.close();
  });
});

suite('a restored backup', needsPostgres, () => {
  test('skips the numbers that may have been given since, and tells those who have seen them', async () => {
    const url = await makeDatabase();
    const store = await open(url);
    const { seq } = await store.create({ id: 1n, name: 'x' }, BY);
    await queryPostgres(url, 'SELECT skip_change_numbers()');
    assert.deepEqual(await store.changes({ after: seq - 1 }).then((all) => all.length), 1);
    await assert.rejects(store.changes({ after: seq + 1 }), { code: 'changes_pruned' });
    const next = await store.create({ id: 2n, name: 'x' }, BY);
    assert.ok(next.seq > seq + 1_000_000_000 && Number.isSafeInteger(next.seq), `the next number is ${next.seq}`);
    assert.equal((await store.changes({ after: seq })).length, 1);
    await store.close();
  });
});

test('failureOf() tells by the SQLSTATE what can be tried again', () => {
  const withCode = (code: string) => Object.assign(new pg.DatabaseError('x', 1, 'error'), { code, severity: 'ERROR' });
  for (const [code, failure] of [
    ['40001', 'conflict'],
    ['40P01', 'conflict'],
    ['57014', 'busy'],
    ['53300', 'busy'],
    ['53100', 'full'],
    ['57P01', 'unreachable'],
    ['08006', 'unreachable'],
    ['25006', 'unreachable'],
    ['42P01', 'bug'],
    ['22021', 'bug'],
  ] as const) {
    assert.equal(failureOf(withCode(code)), failure, code);
  }
  assert.equal(failureOf(Object.assign(new Error('x'), { code: 'ECONNRESET' })), 'unreachable');
  assert.equal(failureOf(new TypeError('x')), 'bug');
});
