// Tests the schema, its migrations, and the databases that a node rejects.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import pg from 'pg';
import {
  makeDatabase,
  makeEmptyDatabase,
  needsPostgres,
  openPostgres,
  queryPostgres,
} from '../../../testing/postgres.ts';
import { walk } from '../../../testing/store-walk.ts';
import { until } from '../../../testing/until.ts';
import { wordsOf } from '../../domain/name-search.ts';
import type { ListQuery } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import { tagKey, wordKey } from './index-key.ts';

const BY = { tokenId: 'tok_1' };

const FOLDER = join(import.meta.dirname, 'migrations');
const SQL_FILES = readdirSync(FOLDER)
  .sort()
  .map((file) => readFileSync(join(FOLDER, file), 'utf8'));

suite('the schema', needsPostgres, () => {
  test('eight nodes that start concurrently on an empty database create the schema once', async () => {
    const url = await makeEmptyDatabase();
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgres(url, { poolSize: 1 })));
    await Promise.all(stores.map((store, at) => store.create({ id: BigInt(at), name: 'x' }, BY)));
    assert.equal((await walk(stores[0] as Store, {})).length, 8);
    await Promise.all(stores.map((store) => store.close()));
    const versions = await queryPostgres(url, 'SELECT version FROM plant_store_schema ORDER BY version');
    assert.deepEqual(
      versions.map(({ version }) => version),
      SQL_FILES.map((_sql, at) => at + 1),
    );
  });

  test('the tables can be in a schema of any name and at any position of the search path', async () => {
    const url = await makeEmptyDatabase();
    const name = `"o'dd $1 %I ""schema"`;
    await queryPostgres(url, `CREATE SCHEMA ${name}`);
    const setPath = (path: string) =>
      queryPostgres(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = ${path}`);
    await setPath(`${name}, public`);
    const stores = [await openPostgres(url)];
    await setPath(`public, ${name}`);
    stores.push(await openPostgres(url));
    for (const [at, store] of stores.entries()) await store.create({ id: BigInt(at), name: 'x' }, BY);
    for (const store of stores) assert.equal((await walk(store, { q: 'x' })).length, 2);
    await Promise.all(stores.map((store) => store.close()));
    await setPath('nowhere');
    await assert.rejects(openPostgres(url), /search_path in PostgreSQL names no existing schema/);
  });

  test('a node migrates the schema of the previous version, and nodes of that version continue to work', async () => {
    const url = await makeDatabaseOfPreviousVersion();
    const oldKeys = (name: string, tag: string | null) => [
      ...wordsOf(name).map(wordKey),
      ...(tag ? [tagKey(tag)] : []),
    ];
    const createByOldNode = (id: number, name: string, tag: string | null) => {
      const keys = oldKeys(name, tag);
      const values = [[id], [name], [tag], [1], ['tok'], keys, keys.map(() => id)];
      return queryPostgres(url, 'SELECT * FROM create_plants_2($1, $2, $3, $4, $5, $6, $7)', ...values);
    };
    const changeByOldNode = async (id: number, does: 'store' | 'delete', name: string, tag: string | null) => {
      const [old] = await queryPostgres(url, 'SELECT name, tag, seq FROM plants WHERE id = $1', id);
      const before = oldKeys(String(old?.name), old?.tag as string | null);
      const now = does === 'delete' ? [] : oldKeys(name, tag);
      const [gone, added] = [before.filter((key) => !now.includes(key)), now.filter((key) => !before.includes(key))];
      const values = [[id], [old?.seq], [does], [name], [tag], [2], ['tok']];
      const index = [gone, gone.map(() => id), added, added.map(() => id)];
      const text = 'SELECT * FROM change_plants_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)';
      return queryPostgres(url, text, ...values, ...index);
    };
    await createByOldNode(1, 'Écorce', 't');
    await createByOldNode(2, 'Zinnia', null);
    await changeByOldNode(2, 'store', 'zinnia', null);

    const store = await openPostgres(url);
    const names = async (query: ListQuery) => (await walk(store, query)).map(({ name }) => name);
    const history = async (id: bigint) => (await store.history(id)).changes.map(({ plant }) => plant.name);
    assert.deepEqual(await names({ sort: 'name', limit: 1 }), ['Écorce', 'zinnia']);
    assert.deepEqual(await history(2n), ['zinnia', 'Zinnia']);
    await createByOldNode(3, 'Été', null);
    await createByOldNode(4, 'Ähre', 't');
    assert.deepEqual(await names({ sort: 'name' }), ['Ähre', 'Écorce', 'Été', 'zinnia']);
    assert.deepEqual(await names({ untagged: true }), ['zinnia', 'Été']);
    await changeByOldNode(1, 'store', 'summer', null);
    await changeByOldNode(2, 'store', 'Ölbaum', 't');
    await changeByOldNode(3, 'delete', 'Été', null);
    assert.deepEqual(await names({ sort: '-name' }), ['summer', 'Ölbaum', 'Ähre']);
    assert.deepEqual(await names({ untagged: true }), ['summer']);
    assert.deepEqual(await names({ tag: 't' }), ['Ölbaum', 'Ähre']);
    assert.deepEqual(await names({ q: 'ol' }), ['Ölbaum']);
    assert.deepEqual(await store.count(), { plants: 3, isMore: false });
    assert.deepEqual(await history(2n), ['Ölbaum', 'zinnia', 'Zinnia']);
    const { seq } = await store.create({ id: 3n, name: 'Ficus' }, BY);
    assert.deepEqual(await store.count(), { plants: 4, isMore: false });
    assert.equal(seq, await store.lastSeq());
    await store.close();
  });

  test('a write of the previous version that waits for the migration is retried, and then complete', async () => {
    const url = await makeDatabaseOfPreviousVersion();
    const create = (id: number) => {
      const values = [[id], ['x'], [null], [1], ['tok'], [], []];
      return queryPostgres(url, 'SELECT * FROM create_plants_2($1, $2, $3, $4, $5, $6, $7)', ...values);
    };
    await create(1);
    const migration = new pg.Client(url);
    await migration.connect();
    await migration.query('BEGIN; SET LOCAL search_path = public, pg_temp');
    for (const sql of SQL_FILES.slice(4)) await migration.query(`${sql}; SET LOCAL search_path = public, pg_temp`);
    const [late] = await Promise.allSettled([create(2), waitForLock(url).then(() => migration.query('COMMIT'))]);
    await migration.end();
    assert.equal(late.status === 'rejected' && late.reason.code, '40001'); // nodes retry after this error
    await create(2);
    await queryPostgres(
      url,
      'INSERT INTO plant_store_schema SELECT n, 4 FROM generate_series(5, $1) n',
      SQL_FILES.length,
    );
    const store = await openPostgres(url);
    assert.deepEqual(await store.count(), { plants: 2, isMore: false });
    assert.equal((await walk(store, { untagged: true })).length, 2);
    await store.close();
  });

  test('a node uses a newer schema that supports its version, and rejects any other', async () => {
    const url = await makeDatabase();
    await queryPostgres(url, 'INSERT INTO plant_store_schema (version, works_with) VALUES (99, 1)');
    await (await openPostgres(url)).close();
    await queryPostgres(url, 'UPDATE plant_store_schema SET works_with = 98 WHERE version = 99');
    await assert.rejects(openPostgres(url), /^UserError: The database was changed by a newer version \(schema 99,/);
  });

  test('a running node fails when a version migrates the schema that it does not support', async (t) => {
    const url = await makeDatabase();
    const failures: string[] = [];
    const store = await openPostgres(url, { onFailure: ({ message }) => failures.push(message) });
    t.after(() => store.close());
    await store.create({ id: 1n, name: 'x' }, BY);
    await queryPostgres(url, 'INSERT INTO plant_store_schema (version, works_with) VALUES (99, 1)');
    await store.probe();
    assert.equal(failures.length, 0);
    await queryPostgres(url, 'ALTER TABLE tokens RENAME COLUMN name TO label');
    await assert.rejects(store.listTokens(), /column t.name does not exist/); // not by a newer version
    await queryPostgres(
      url,
      `UPDATE plant_store_schema SET works_with = 99 WHERE version = 99;
       ALTER FUNCTION create_plants_3 RENAME TO create_plants_99; ALTER TABLE plants RENAME COLUMN name TO label`,
    );
    const create = (id: bigint) => store.create({ id, name: 'x' }, BY);
    const failing = [store.probe(), create(2n), create(3n), store.get(1n), store.listTokens()];
    for (const one of await Promise.allSettled(failing)) {
      assert.ok(one.status === 'rejected' && one.reason.code === 'unavailable');
      assert.match(one.reason.message, /changed by a newer version \(schema 99,/);
    }
    assert.ok(failures.every((reason) => reason.startsWith('The database was changed by a newer version')));
    await queryPostgres(url, 'DELETE FROM plant_store_schema WHERE version > 1'); // as a failover can
    await assert.rejects(store.probe(), { code: 'unavailable', message: /has an older schema than at the start \(1 / });
  });

  test('a node rejects a database that cannot store every text', async () => {
    const url = process.env.TEST_POSTGRES_URL as string;
    const name = `latin_${process.pid}`;
    await queryPostgres(url, `CREATE DATABASE ${name} ENCODING 'LATIN1' TEMPLATE template0`);
    await assert.rejects(openPostgres(url.replace(/[^/]+$/, name)), /The encoding of the database is LATIN1/);
  });

  test('a node rejects a database that can lose commits', async () => {
    const url = await makeDatabase();
    await queryPostgres(url, `ALTER DATABASE ${url.slice(url.lastIndexOf('/') + 1)} SET synchronous_commit = off`);
    await assert.rejects(openPostgres(url), /synchronous_commit is off in PostgreSQL/);
  });

  test('other settings of the database do not affect the store', async () => {
    const url = await makeDatabase();
    const name = url.slice(url.lastIndexOf('/') + 1);
    await queryPostgres(url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    await queryPostgres(url, `ALTER DATABASE ${name} SET standard_conforming_strings = off`).catch(() => {});
    await queryPostgres(url, `ALTER DATABASE ${name} SET "DateStyle" = 'German'`);
    await queryPostgres(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const store = await openPostgres(url);
    const plants = Array.from({ length: 50 }, (_, n) => ({ id: BigInt(n), name: `\\" {NULL} ${n}`, tag: 'NULL' }));
    await Promise.all(plants.map((plant) => store.create(plant, BY)));
    assert.deepEqual(
      (await walk(store, { q: 'null' })).map(({ id, name, tag }) => ({ id, name, tag })),
      plants,
    );
    await store.close();
  });
});

async function makeDatabaseOfPreviousVersion(): Promise<string> {
  const url = await makeEmptyDatabase();
  await queryPostgres(url, SQL_FILES.slice(0, 4).join('\n'));
  await queryPostgres(
    url,
    `CREATE TABLE plant_store_schema (version integer PRIMARY KEY, works_with integer NOT NULL, applied timestamptz NOT NULL DEFAULT now());
     INSERT INTO plant_store_schema VALUES (1, 1), (2, 1), (3, 1), (4, 1)`,
  );
  return url;
}

/** Waits until a session of the database waits for a lock. */
async function waitForLock(url: string): Promise<void> {
  const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => (await queryPostgres(url, text)).length > 0);
}
