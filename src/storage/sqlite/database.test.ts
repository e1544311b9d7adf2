import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import type { ListQuery } from '../../domain/plant.ts';
import { UserError } from '../../lib/user-error.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { inspectDatabase, openConnection, prepareDatabase, verifyCopy } from './database.ts';
import { migrate } from './schema.ts';
import { openSqliteStore } from './store.ts';

function makeDatabase(): string {
  const path = join(makeFolder(), 'plants.db');
  prepareDatabase(path, 'command').release();
  const db = openConnection(path);
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, NULL, 1, 1, ?)');
  db.exec('BEGIN');
  for (let id = 0; id < 2000; id++) insert.run(id, `Plant ${id}`, id + 1);
  db.exec(`INSERT INTO changes SELECT seq, 'plant.created', 1, id, 'tok', name, tag, NULL, seq FROM plants; COMMIT`);
  db.close();
  return path;
}

function rejectsUnchanged(path: string, message: RegExp): void {
  const hash = () => createHash('sha256').update(readFileSync(path)).digest('hex');
  const before = hash();
  assert.throws(
    () => prepareDatabase(path, 'server'),
    (error: Error) => {
      assert.ok(error instanceof UserError, String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    },
  );
  assert.equal(hash(), before);
}

test('openConnection() commits durably, with a WAL and synchronous=FULL', () => {
  const db = openConnection(makeDatabase());
  assert.equal(db.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal');
  assert.equal(db.prepare('PRAGMA synchronous').get()?.synchronous, 2n);
  assert.equal(db.prepare('PRAGMA busy_timeout').get()?.timeout, 5000n);
  db.close();
});

test('prepareDatabase() creates the folders and a complete file, and leaves no other files', () => {
  const folder = join(makeFolder(), 'a', 'b');
  const prepared = prepareDatabase(join(folder, 'plants.db'), 'server');
  openConnection(prepared.path).close();
  prepared.release();
  assert.deepEqual(readdirSync(folder).sort(), ['plants.db', 'plants.db.lock']);
  const db = new DatabaseSync(join(folder, 'plants.db'));
  const tables = db
    .prepare(
      `SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type <> 'view' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'words%'`,
    )
    .all();
  assert.deepEqual(tables.map(({ name, strict }) => [name, strict]).sort(), [
    ['change_times', 1],
    ['changes', 1],
    ['deliveries', 1],
    ['dictionary', 1],
    ['name_order', 1],
    ['numbering', 1],
    ['old_secrets', 1],
    ['plants', 1],
    ['skipped', 1],
    ['tokens', 1],
    ['webhooks', 1],
  ]);
  db.close();
});

test('prepareDatabase() migrates a store of the first version: its records are found and its numbers continue', () => {
  const path = join(makeFolder(), 'plants.db');
  const old = new DatabaseSync(path);
  old.exec(readFileSync(join(import.meta.dirname, 'migrations/0001_plants_changes_tokens.sql'), 'utf8'));
  old.exec(`
    PRAGMA user_version = 1;
    INSERT INTO plants VALUES (9223372036854775807, 'Été', 'Tree', 1, 1, 2), (-5, 'Acer 𠀀𠀁', NULL, 1, 1, 3);
    INSERT INTO changes VALUES (2, 'plant.created', 1, 9223372036854775807, 'Été', 'Tree', 'tok_1');
    INSERT INTO changes VALUES (3, 'plant.created', 1, -5, 'Acer 𠀀𠀁', NULL, 'tok_1');`);
  old.close();
  prepareDatabase(path, 'command').release();
  const db = new DatabaseSync(path, { readBigInts: true });
  const find = (words: string) => db.prepare('SELECT rowid FROM words WHERE words MATCH ?').all(words);
  assert.deepEqual(
    find('"et"*').map(({ rowid }) => rowid),
    [9223372036854775807n],
  );
  assert.deepEqual(
    find('"acer"').map(({ rowid }) => rowid),
    [-5n],
  );
  assert.deepEqual(
    db
      .prepare('SELECT seq, plant_id FROM changes')
      .all()
      .map(({ seq, plant_id }) => [seq, plant_id]),
    [
      [2n, 9223372036854775807n],
      [3n, -5n],
    ],
  );
  assert.deepEqual(
    db
      .prepare('SELECT word FROM dictionary')
      .all()
      .map(({ word }) => word),
    ['acer', 'ete', '𠀀𠀁'],
    'the dictionary holds words and no tags',
  );
  assert.equal(prepareLastSeq(db)(), 3);
  assert.equal(db.prepare('SELECT pruned_to FROM numbering').get()?.pruned_to, 1n);
  db.close();
});

test('prepareDatabase() rebuilds an index with long words, and leaves an index without them unchanged', () => {
  const migrations = join(import.meta.dirname, 'migrations');
  const files = readdirSync(migrations).filter((file) => file < '0006');
  const makeOld = (word: string) => {
    const path = join(makeFolder(), 'plants.db');
    const db = new DatabaseSync(path);
    db.function('index_text', (name, _tag) => name);
    for (const file of files) db.exec(readFileSync(join(migrations, file), 'utf8'));
    db.exec(`
      PRAGMA user_version = ${files.length};
      INSERT INTO plants VALUES (1, '${word} Ab', 't', 1, 1, 2);
      INSERT INTO changes VALUES (2, 'plant.created', 1, 1, '${word} Ab', 't', 'tok_1');
      INSERT INTO words (rowid, text) VALUES (1, '${word} Ab \ue000t');
      INSERT INTO dictionary VALUES ('${word}'), ('ab'), ('stale');`);
    db.close();
    prepareDatabase(path, 'command').release();
    const now = new DatabaseSync(path);
    const words = now.prepare('SELECT word FROM dictionary ORDER BY word').all();
    const found = now.prepare('SELECT rowid FROM words WHERE words MATCH ?');
    const isIndexed = (text: string) => found.all(`"${text}"`).length === 1;
    const seen = { words: words.map((row) => row.word), isIndexed: ['ab', '\ue000t', word].map(isIndexed) };
    now.close();
    return seen;
  };
  assert.deepEqual(makeOld('x'.repeat(65)), { words: ['ab', 'x'.repeat(64)], isIndexed: [true, true, false] });
  assert.deepEqual(makeOld('x'.repeat(64)), { words: ['ab', 'stale', 'x'.repeat(64)], isIndexed: [true, true, true] });
});

test('prepareDatabase() migrates a store of version 1.0: sorts, counts, histories and untagged plants are complete', async () => {
  const migrations = join(import.meta.dirname, 'migrations');
  const files = readdirSync(migrations).filter((file) => file < '0007');
  const path = join(makeFolder(), 'plants.db');
  const db = new DatabaseSync(path);
  for (const file of files) {
    db.function('index_text', (name, _tag) => name);
    db.exec(readFileSync(join(migrations, file), 'utf8'));
  }
  db.exec(`
    PRAGMA user_version = ${files.length};
    UPDATE numbering SET pruned_to = 2;
    INSERT INTO plants VALUES (1, 'Zinnia', NULL, 1, 4, 7), (2, 'Écorce', 't', 1, 2, 5), (3, 'acer', NULL, 1, 1, 1);
    INSERT INTO words (rowid, text) VALUES (1, 'Zinnia'), (2, 'ecorce \ue000t'), (3, 'acer');
    INSERT INTO dictionary VALUES ('zinnia'), ('ecorce'), ('acer');
    INSERT INTO changes VALUES (3, 'plant.created', 1, 1, 'a', NULL, 'tok_1'), (4, 'plant.updated', 2, 1, 'b', 't', 'tok_1'),
      (5, 'plant.updated', 2, 2, 'Écorce', 't', 'tok_1'), (6, 'plant.deleted', 3, 9, 'gone', NULL, 'tok_1'),
      (7, 'plant.updated', 4, 1, 'Zinnia', NULL, 'tok_1');`);
  db.close();
  const store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => {} });
  const names = async (query: ListQuery) => (await store.list(query)).records.map(({ name }) => name);
  assert.deepEqual(await names({ sort: 'name' }), ['acer', 'Écorce', 'Zinnia']);
  assert.deepEqual(await names({ sort: '-updated' }), ['Zinnia', 'Écorce', 'acer']);
  assert.deepEqual(await names({ untagged: true }), ['Zinnia', 'acer']);
  assert.deepEqual(await store.count(), { plants: 3, isMore: false });
  const seqs = async (id: bigint) => (await store.history(id)).changes.map(({ seq }) => seq);
  assert.deepEqual([await seqs(1n), await seqs(2n), await seqs(3n)], [[7, 4, 3], [5], []]);
  await store.delete(3n, { tokenId: 'tok_1' });
  await store.put(1n, { name: 'Élan', tag: 'x' }, { tokenId: 'tok_1' });
  assert.deepEqual(await names({ sort: 'name' }), ['Écorce', 'Élan']);
  assert.deepEqual(await names({ untagged: true }), []);
  assert.deepEqual(await store.count(), { plants: 2, isMore: false });
  assert.deepEqual(await seqs(1n), [9, 7, 4, 3]);
  await store.close();
  prepareDatabase(path, 'server').release(); // the number of plants is checked
});

test('prepareDatabase() rejects a store whose number of plants is wrong', () => {
  const path = makeDatabase();
  const db = openConnection(path);
  db.exec('UPDATE changes SET plant_count = 1999 WHERE seq = 2000');
  db.close();
  rejectsUnchanged(path, /is damaged \(its number of plants is 2000 instead of 1999\)/);
});

test('prepareDatabase() succeeds after an earlier start crashed while it created the file', () => {
  const path = join(makeFolder(), 'plants.db');
  writeFileSync(`${path}.new`, randomBytes(5000));
  writeFileSync(`${path}.new-wal`, randomBytes(5000));
  prepareDatabase(path, 'server').release();
  assert.equal(existsSync(`${path}.new`), false);
});

test('prepareDatabase() rejects a second server, even through a link, and accepts a command', () => {
  const path = makeDatabase();
  const first = prepareDatabase(path, 'server');
  const link = join(makeFolder(), 'link.db');
  symlinkSync(path, link);
  for (const name of [path, link]) assert.throws(() => prepareDatabase(name, 'server'), /Another server is using/);
  prepareDatabase(path, 'command').release();
  first.release();
  prepareDatabase(path, 'server').release();
});

test('prepareDatabase() rejects servers and commands on a file with two names until one name is removed', () => {
  const path = makeDatabase();
  const other = join(makeFolder(), 'other.db');
  linkSync(path, other);
  for (const name of [path, other]) {
    for (const role of ['server', 'command'] as const) {
      assert.throws(() => prepareDatabase(name, role), /has 2 names \(hard links\).* remove the other names/);
    }
  }
  rmSync(other);
  prepareDatabase(path, 'server').release();
});

test('prepareDatabase() rejects a link whose file does not exist, and keeps the link', () => {
  const folder = makeFolder();
  symlinkSync(join(folder, 'unmounted.db'), join(folder, 'link.db'));
  assert.throws(() => prepareDatabase(join(folder, 'link.db'), 'command'), /is a link to a file that does not exist/);
  assert.ok(lstatSync(join(folder, 'link.db')).isSymbolicLink());
});

test('prepareDatabase() rejects a newer schema', () => {
  const path = makeDatabase();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  rejectsUnchanged(path, /newer version \(schema 99/);
});

test('prepareDatabase() and a restore reject a schema that is not their own, and accept the statistics of ANALYZE', () => {
  const whole = makeDatabase();
  for (const [sql, finding] of [
    [`CREATE TRIGGER "a\nb" AFTER INSERT ON plants BEGIN DELETE FROM tokens; END`, 'a foreign trigger "a\\\\nb"'],
    ['CREATE VIEW cheap_plants AS SELECT * FROM plants', 'a foreign view "cheap_plants"'],
    ['CREATE UNIQUE INDEX one_name ON plants (name)', 'a foreign index "one_name"'],
    [
      'DROP VIEW report_tokens; CREATE VIEW report_tokens AS SELECT * FROM tokens',
      'another definition of the view "report_tokens"',
    ],
    [
      'ALTER TABLE plants ADD COLUMN token TEXT REFERENCES tokens ON DELETE CASCADE',
      'another definition of the table "plants"',
    ],
    ['DROP TABLE skipped; CREATE VIEW skipped AS SELECT 1 AS first, 0 AS last', 'a foreign view "skipped"'],
    ['DROP INDEX undelivered', 'no index "undelivered"'],
  ] as const) {
    const path = join(makeFolder(), 'plants.db');
    copyFileSync(whole, path);
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
    rejectsUnchanged(path, new RegExp(`^The schema of .*plants\\.db has ${finding}\\. `));
    for (const check of [inspectDatabase, verifyCopy]) assert.throws(() => check(path), /^UserError: The schema of /);
    assert.throws(() => prepareDatabase(path, 'command'), /^UserError: The schema of /);
  }
  const db = new DatabaseSync(whole);
  db.exec('ANALYZE');
  db.close();
  prepareDatabase(whole, 'server').release();
});

test('prepareDatabase() rejects a foreign trigger before it migrates an old store, which would run it', () => {
  const path = join(makeFolder(), 'plants.db');
  const old = new DatabaseSync(path);
  migrate(old, 6);
  old.exec('CREATE TRIGGER spy AFTER UPDATE ON numbering BEGIN DELETE FROM tokens; END');
  old.close();
  rejectsUnchanged(path, /has a foreign trigger "spy"/);
  const cleaned = new DatabaseSync(path);
  cleaned.exec('DROP TRIGGER spy');
  cleaned.close();
  prepareDatabase(path, 'server').release();
});

test('prepareDatabase() rejects a database of another application', () => {
  const path = join(makeFolder(), 'other.db');
  const db = new DatabaseSync(path);
  db.exec('CREATE TABLE t (x)');
  db.close();
  rejectsUnchanged(path, /is not a Plant Store database/);
  assert.equal(existsSync(`${path}.lock`), false, 'no lock file is left beside it');
});

test('prepareDatabase() rejects a file that is not a database, an empty file, and a WAL without its file', () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'text.db'), 'Not a database, but long enough to look like one. '.repeat(100));
  rejectsUnchanged(
    join(folder, 'text.db'),
    /is not a database, or its header is damaged\. .*restore this one from a backup/,
  );
  writeFileSync(join(folder, 'empty.db'), '');
  rejectsUnchanged(join(folder, 'empty.db'), /is empty\. Restore it/);
  assert.throws(() => inspectDatabase(folder), /is not a file/);
  writeFileSync(join(folder, 'gone.db-wal'), randomBytes(5000));
  assert.throws(() => prepareDatabase(join(folder, 'gone.db'), 'server'), /is missing, but its WAL/);
  assert.equal(existsSync(join(folder, 'gone.db')), false);
});

test('prepareDatabase() rejects a file that was truncated or whose pages were overwritten', () => {
  const whole = makeDatabase();
  const size = readFileSync(whole).length;
  for (const [name, damage] of Object.entries({
    'cut at a page': (path: string) => truncateSync(path, 4096 * 3),
    'cut within a page': (path: string) => truncateSync(path, size - 1000),
    'a page of zeros': (path: string) => overwrite(path, 4096 * 5, Buffer.alloc(4096)),
    'a page of noise': (path: string) => overwrite(path, 4096 * 6, randomBytes(4096)),
    'the header': (path: string) => overwrite(path, 0, randomBytes(100)),
    'the first page': (path: string) => overwrite(path, 100, randomBytes(3996)),
  })) {
    const path = join(makeFolder(), `${name}.db`);
    copyFileSync(whole, path);
    damage(path);
    rejectsUnchanged(path, /is damaged|is not a Plant Store database/);
  }
});

test('prepareDatabase() checks the pages after an unclean stop, including those in the WAL', () => {
  const path = makeDatabase();
  const db = openConnection(path);
  db.exec(`INSERT INTO plants VALUES (-1, 'in the WAL', NULL, 1, 1, 2001)`);
  db.exec(`INSERT INTO changes VALUES (2001, 'plant.created', 1, -1, 'tok', 'in the WAL', NULL, NULL, 2001)`);
  const copy = join(makeFolder(), 'copy.db');
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copy + suffix);
  db.close();
  prepareDatabase(copy, 'server').release();
  const recovered = openConnection(copy);
  assert.equal(recovered.prepare('SELECT name FROM plants WHERE id = -1').get()?.name, 'in the WAL');
  recovered.close();
});

test('prepareDatabase() rejects a WAL that is damaged before its last commit, and accepts a truncated WAL', () => {
  const path = makeDatabase();
  const db = openConnection(path);
  for (let id = -4; id < 0; id++)
    db.exec(`INSERT INTO tokens VALUES (${id}, ${id}, 'x', '', 1, NULL, NULL, NULL, NULL)`);
  const log = readFileSync(`${path}-wal`);
  const copyWith = (bytes: Buffer) => {
    const copy = join(makeFolder(), 'copy.db');
    copyFileSync(path, copy);
    writeFileSync(`${copy}-wal`, bytes);
    return copy;
  };
  const damagedAt = (at: number) => Buffer.from(log.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  for (const at of [0, 20, 32 + 10, 32 + 24 + 2000, 32 + 24 + 4096 + 20]) {
    const copy = copyWith(damagedAt(at));
    assert.throws(
      () => prepareDatabase(copy, 'server'),
      /copy\.db-wal is damaged \((its header|frame \d+)\)/,
      `byte ${at}`,
    );
    assert.deepEqual(readFileSync(`${copy}-wal`), damagedAt(at));
  }
  for (const bytes of [log, damagedAt(log.length - 1), log.subarray(0, log.length - 1), Buffer.alloc(log.length)]) {
    prepareDatabase(copyWith(bytes), 'server').release(); // a power cut can leave such a WAL
  }
  db.close();
});

test('prepareDatabase() rejects a plant that differs from its last change', () => {
  for (const [column, value] of Object.entries({ name: 'y', tag: 'y', updated: 2, created: 2, seq: 2, id: 2 })) {
    const path = makeDatabase();
    const db = openConnection(path);
    db.exec(`
      DELETE FROM plants;
      DELETE FROM changes;
      INSERT INTO plants VALUES (1, 'x', NULL, 1, 1, 1);
      INSERT INTO changes VALUES (1, 'plant.created', 1, 1, 'tok', 'x', NULL, NULL, 1)`);
    db.close();
    prepareDatabase(path, 'server').release();
    const damaging = openConnection(path);
    damaging.prepare(`UPDATE plants SET ${column} = ?`).run(value);
    damaging.close();
    rejectsUnchanged(path, /is damaged \(plant \d differs from its last change\)/);
  }
});

test('prepareDatabase() accepts a plant whose last change was pruned', () => {
  const path = makeDatabase();
  const db = openConnection(path);
  db.exec(`
    UPDATE plants SET tag = 'x' WHERE id = 1;
    DELETE FROM changes WHERE seq <= 2;
    UPDATE numbering SET pruned_to = 2`);
  db.close();
  prepareDatabase(path, 'server').release();
});

function overwrite(path: string, at: number, bytes: Buffer): void {
  const content = readFileSync(path);
  bytes.copy(content, at);
  writeFileSync(path, content);
}
