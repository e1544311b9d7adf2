// Tests how much a page of the change log reads.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQLOutputValue } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { prepareChangeReads } from './changes-read.ts';
import { openReader } from './database.ts';
import { openSqliteStore } from './store.ts';

const IO = '/proc/self/io';
const PLANTS = 150;
const NAME = 'x'.repeat(64_000);

const options = existsSync(IO) ? {} : { skip: `SKIPPED: this system has no ${IO}` };
test('a filter by type and token reads a small part of changes with long names', options, async (t) => {
  const path = join(makeFolder(), 'plants.db');
  const store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail() });
  t.after(() => store.close());
  const plants = Array.from({ length: PLANTS }, (_, id) => ({ id: BigInt(id), name: NAME }));
  await store.import(plants, { tokenId: 'tok_1' });
  const sizes: number[] = [];
  for (let at = 0; at < 3; at++) {
    const before = readBytes();
    assert.deepEqual(await store.changePage({ type: 'plant.created', token: 'tok_2' }), { changes: [] });
    sizes.push(readBytes() - before); // other threads can read too, but not each time
  }
  assert.ok(Math.min(...sizes) < (PLANTS * NAME.length) / 5, `read ${sizes} bytes`);
});

test('a page looks up the name of each token once, also if the store does not have the token', async (t) => {
  const path = join(makeFolder(), 'plants.db');
  const store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail() });
  t.after(() => store.close());
  for (let id = 0n; id < 20n; id++) await store.create({ id, name: 'x' }, { tokenId: id % 2n ? 'cli' : 'jwt:a' });
  const db = openReader(path);
  t.after(() => db.close());
  const lookedUp: unknown[] = [];
  const { prepare } = db;
  db.prepare = (sql) => {
    const statement = prepare.call(db, sql);
    if (sql.includes('FROM tokens')) {
      const get: (id: string) => Record<string, SQLOutputValue> | undefined = statement.get.bind(statement);
      statement.get = (id: unknown) => {
        lookedUp.push(id);
        return get(id as string);
      };
    }
    return statement;
  };
  const { changes } = prepareChangeReads(db).changePage({ limit: 20 });
  assert.equal(changes.length, 20);
  assert.deepEqual(lookedUp, ['jwt:a', 'cli']);
});

/** Returns the number of bytes that this process has read so far. */
function readBytes(): number {
  return Number(/^rchar: (\d+)/.exec(readFileSync(IO, 'utf8'))?.[1]);
}
