// Tests the schema, its migrations, and the databases that a node rejects.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import {
  makeDatabase,
  makeEmptyDatabase,
  needsPostgres,
  openPostgres,
  queryPostgres,
} from '../../../testing/postgres.ts';
import { walk } from '../../../testing/store-cases.ts';
import { wordsOf } from '../../domain/name-search.ts';
import type { Store } from '../../domain/store.ts';
import { MANY, tagKey, wordKey } from './index-key.ts';

const BY = { tokenId: 'tok_1' };

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
      [1, 2, 3, 4],
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
    const url = await makeEmptyDatabase();
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

    const store = await openPostgres(url);
    const entries = async (id: number) =>
      (await queryPostgres(url, 'SELECT word FROM words WHERE id = $1 ORDER BY word', id)).map(({ word }) => word);
    assert.deepEqual(await entries(1), [MANY, tagKey('t')], 'one entry replaces all words of a long name');
    assert.deepEqual(await entries(2), [wordKey('ficus'), wordKey('short'), tagKey('t')]);
    await createByOldNode(3, long);
    assert.deepEqual(
      (await walk(store, { q: 'ficus', tag: 't' })).map(({ id }) => id),
      [1n, 2n, 3n],
    );
    await store.delete(3n, BY); // leaves words that only the old version indexes
    assert.equal((await entries(3)).length, 2);
    const { seq } = await store.create({ id: 3n, name: 'Ficus again', tag: 't' }, BY);
    assert.ok(seq > 1_000_000_000, 'a dump of the previous version may have been restored into two databases');
    assert.deepEqual(
      (await walk(store, { q: 'ficus a' })).map(({ id }) => id),
      [3n],
    );
    await store.close();
  });

  test('a node uses a newer schema that supports its version, and rejects any other', async () => {
    const url = await makeDatabase();
    await queryPostgres(url, 'INSERT INTO plant_store_schema (version, works_with) VALUES (99, 1)');
    await (await openPostgres(url)).close();
    await queryPostgres(url, 'UPDATE plant_store_schema SET works_with = 98 WHERE version = 99');
    await assert.rejects(openPostgres(url), /^UserError: The database was changed by a newer version \(schema 99,/);
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
