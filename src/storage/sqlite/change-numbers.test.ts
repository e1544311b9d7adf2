import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder, query } from '../../../testing/server.ts';
import { backUpDatabase } from './backup.ts';
import { isMarkedCopy, prepareIsGone, prepareLastSeq, skipNumbers } from './change-numbers.ts';
import { prepareDatabase } from './database.ts';
import { openSqliteStore } from './store.ts';

const BY = { tokenId: 'tok_1' };

function open(path: string) {
  return openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail('the store failed') });
}

function makeDatabase(): DatabaseSync {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  return new DatabaseSync(path);
}

test('skipNumbers() skips a billion and a random count of numbers, and 300 restores stay below 2^53', () => {
  const db = makeDatabase();
  const lastSeq = prepareLastSeq(db);
  db.exec('BEGIN');
  for (let restore = 0; restore < 300; restore++) {
    const before = lastSeq();
    skipNumbers(db);
    const skipped = lastSeq() - before;
    assert.ok(skipped >= 1_000_000_000 && skipped <= 1_000_000_000 + 2 ** 47, `${skipped} skipped`);
  }
  assert.ok(Number.isSafeInteger(lastSeq()));
  assert.equal(prepareIsGone(db)(lastSeq()), false);
  assert.equal(prepareIsGone(db)(lastSeq() + 1), true);
  db.close();
});

test('a backup is marked as a copy: its first write skips numbers once, and earlier reads skip none', async () => {
  const path = join(makeFolder(), 'plants.db');
  const backup = join(makeFolder(), 'backup.db');
  const source = await open(path);
  const { seq } = await source.create({ id: 1n, name: 'x' }, BY);
  await backUpDatabase(path, backup);
  const seqs = new Set<number>();
  for (let copy = 0; copy < 2; copy++) {
    const copied = join(makeFolder(), 'copy.db');
    copyFileSync(backup, copied);
    const reading = await open(copied);
    assert.deepEqual(await reading.changes({ after: seq }), []);
    await assert.rejects(reading.changes({ after: seq + 1 }), { code: 'changes_pruned' });
    await reading.close();
    assert.deepEqual(query(copied, 'SELECT first, last FROM skipped'), [{ first: BigInt(seq + 1), last: BigInt(seq) }]);
    const store = await open(copied);
    const next = (await store.create({ id: 2n, name: 'x' }, BY)).seq;
    assert.ok(next > seq + 1_000_000_000, `${next} after ${seq}`);
    assert.equal((await store.create({ id: 3n, name: 'x' }, BY)).seq, next + 1);
    assert.deepEqual(
      (await store.changes({ after: seq })).map((change) => change.seq),
      [next, next + 1],
    );
    await store.close();
    const db = new DatabaseSync(copied);
    assert.equal(isMarkedCopy(db), false);
    db.close();
    seqs.add(next);
  }
  assert.equal(seqs.size, 2, 'the copies continue with different numbers');
  assert.equal((await source.create({ id: 2n, name: 'x' }, BY)).seq, seq + 1, 'the original store skips no numbers');
  await source.close();
});
