import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { prepareSnapshots } from './snapshots.ts';

test('A snapshot throws the error of its read, also if the error has ended the transaction', () => {
  const db = new DatabaseSync(join(makeFolder(), 'test.db'));
  const snapshot = prepareSnapshots(db);
  const fail = (sql: string) => () => {
    db.exec(sql);
    throw new Error('out of memory');
  };
  assert.throws(() => snapshot(fail('ROLLBACK')), { message: 'out of memory' }); // SQLite does the same after some errors
  assert.throws(() => snapshot(fail('')), { message: 'out of memory' });
  assert.equal(
    snapshot(() => db.isTransaction),
    true,
  );
  assert.equal(db.isTransaction, false);
  db.close();
});
