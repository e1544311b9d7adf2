import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../../testing/code-points.ts';
import { makeFolder, query } from '../../../testing/server.ts';
import { clear } from '../../../testing/store-cases.ts';
import { walk } from '../../../testing/store-walk.ts';
import { quickEnough } from '../../../testing/until.ts';
import { findsNothing, hasWords, queryWords, wordsOf } from '../../domain/name-search.ts';
import type { Store } from '../../domain/store.ts';
import { openReader } from './database.ts';
import { prepareReads } from './plants-read.ts';
import { openSqliteStore } from './store.ts';

const by = { tokenId: 'tok_1' };
const path = join(makeFolder(), 'plants.db');
let store: Store;
before(async () => {
  store = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => assert.fail('failed') });
});
after(() => store.close());

/** Punctuation at which the index may split, letters that fold, and other characters. */
const piece = fc.constantFrom(
  'a',
  'A',
  'ab',
  'abc',
  'ABD',
  'w'.repeat(63),
  'é',
  'e\u0301',
  'ß',
  'İ',
  'ς',
  'Σ',
  'ø',
  '5',
  '２',
  ' ',
  '-',
  '_',
  '.',
  '"',
  '*',
  "'",
  '\u00ad',
  '\u200d',
  '×',
  '\ue000',
  '한',
  'か\u3099',
  '🌵',
  'ﬁ',
  'ǅ',
  '\u0345',
);
const text = fc
  .oneof(
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
    fc.string({ unit: codePoints, maxLength: 12 }),
  )
  .filter((one) => one.isWellFormed() && !one.includes('\0'));

test('the index finds exactly the plants that match the rule of name-search.ts, for any names and queries', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 12 }),
      fc.array(text, { maxLength: 4 }),
      text,
      async (names, queries, tag) => {
        await clear(store, by);
        const plants = names.map((name, at) => ({ id: BigInt(at), name, ...(at % 2 === 0 && { tag }) }));
        const half = plants.length >> 1;
        await store.import(plants.slice(0, half), by);
        for (const plant of plants.slice(half)) await store.create(plant, by);
        const beginnings = wordsOf(names.join(' ')).flatMap((word) => [
          word,
          [...word].slice(0, 3).join(''),
          [...word][0] ?? '',
        ]);
        for (const q of [...queries, ...beginnings.slice(0, 12)]) {
          const matching = findsNothing(q) ? [] : plants.filter(({ name }) => hasWords(name, queryWords(q)));
          const expected = matching.map(({ id }) => id);
          assert.deepEqual(
            (await walk(store, { q, limit: 3 })).map(({ id }) => id),
            expected,
            JSON.stringify(q),
          );
          const tagged = expected.filter((id) => id % 2n === 0n);
          assert.deepEqual(
            (await walk(store, { q, tag, limit: 3 })).map(({ id }) => id),
            tagged,
            JSON.stringify({ q, tag }),
          );
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a search finds names with 2,000 words, and names with a word of 40,000 characters', async () => {
  await clear(store, by);
  const many = Array.from({ length: 2000 }, (_, n) => `w${n}x`).join(' ');
  const long = 'q'.repeat(40_000);
  await store.import(
    [
      { id: 1n, name: many },
      { id: 2n, name: many.replace('w77x', '') },
      { id: 3n, name: long },
    ],
    by,
  );
  assert.deepEqual(
    (await walk(store, { q: many.split(' ').slice(50, 114).join(' ') })).map(({ id }) => id),
    [1n],
  );
  assert.deepEqual(
    (await walk(store, { q: long.slice(0, 1000) })).map(({ id }) => id),
    [3n],
  );
  assert.deepEqual(await walk(store, { q: `${long.slice(0, 999)}r` }), []);
  await assert.rejects(store.list({ q: many }), { code: 'bad_parameter' });
});

test('the index cuts long words, and the dictionary drops a word with the last plant that has it', async () => {
  await clear(store, by);
  const words = () => query(path, 'SELECT word FROM dictionary ORDER BY word').map(({ word }) => word);
  const terms = () => query(path, 'SELECT count(*) AS count FROM words_idx')[0]?.count;
  assert.deepEqual(words(), []);
  const long = 'x'.repeat(500);
  await store.import(
    [
      { id: 1n, name: `${long} Ab` },
      { id: 2n, name: `é${long}é ab` },
      { id: 3n, name: 'ab' },
    ],
    by,
  );
  assert.deepEqual(words(), ['ab', `e${'x'.repeat(63)}`, 'x'.repeat(64)]);
  assert.deepEqual(
    (await walk(store, { q: long })).map(({ id }) => id),
    [1n],
  );
  await store.delete(1n, by);
  await store.put(2n, { name: 'cd' }, by);
  await store.put(3n, { name: 'AB', tag: 't' }, by);
  for (let writes = 0; words().length > 2 && writes < 100; writes++) await store.probe();
  assert.deepEqual(words(), ['ab', 'cd']);
  await store.create({ id: 4n, name: long }, by);
  assert.deepEqual((await walk(store, { q: 'xx' })).length, 1, 'a word that was removed is written again');
  for (const id of [2n, 3n, 4n]) await store.delete(id, by);
  assert.deepEqual(words(), []);
  assert.equal(terms(), 0n);
});

test('a prefix of 3,000 different words finds all of them', async () => {
  await clear(store, by);
  const plants = Array.from({ length: 3000 }, (_, n) => ({
    id: BigInt(n),
    name: `serial${String(n).padStart(6, '0')}`,
  }));
  await store.import(plants, by);
  assert.equal((await walk(store, { q: 's', limit: 1000 })).length, 3000);
  assert.equal((await walk(store, { q: 'se', limit: 1000 })).length, 3000);
  assert.equal((await walk(store, { q: 'serial', limit: 1000 })).length, 3000);
  assert.equal((await walk(store, { q: 'serial0029' })).length, 100);
});

test('every search finds a record that always matches, even while its words change', async () => {
  await clear(store, by);
  await store.import(
    Array.from({ length: 60 }, (_, n) => ({ id: BigInt(n), name: `monx${n} delx${n}` })),
    by,
  );
  let done = false;
  const changing = (async () => {
    for (let n = 0; !done; n++) await store.put(100n, { name: `monz${n} delz${n}` }, by);
  })();
  await store.put(100n, { name: 'mon del' }, by);
  for (let n = 0; n < 300; n++) {
    assert.equal((await walk(store, { q: 'mon del' })).at(-1)?.id, 100n, `search ${n}`);
    await new Promise(setImmediate);
  }
  done = true;
  await changing;
});

test('a page holds fewer records when they are large, and following the pages still returns all of them', async () => {
  await clear(store, by);
  const plants = Array.from({ length: 25 }, (_, n) => ({
    id: BigInt(n),
    name: `long ${'é'.repeat(30_000)}`,
    tag: 't',
  }));
  await store.import(plants, by);
  for (const filter of [{}, { q: 'long' }, { tag: 't' }]) {
    const first = await store.list({ limit: 60, ...filter });
    assert.ok(first.records.length < plants.length && first.next !== undefined);
    assert.deepEqual(
      (await walk(store, { limit: 60, ...filter })).map(({ id }) => id),
      plants.map(({ id }) => id),
    );
  }
});

// This test comes after those that clear the store, because removing its 20,000 plants takes longer than the test.
test('a search for a rare prefix among 20,000 plants is not slower with a small page', async () => {
  await clear(store, by);
  const plants = Array.from({ length: 20_000 }, (_, n) => ({ id: BigInt(n), name: n < 19_900 ? `a${n}` : `azz${n}` }));
  await store.import(plants, by);
  const before = process.threadCpuUsage(); // CPU time does not depend on the load of the machine
  assert.equal((await store.list({ q: 'az', limit: 1 })).records[0]?.id, 19_900n);
  assert.ok(process.threadCpuUsage(before).user < 1000 * 1000);
  assert.equal((await walk(store, { q: 'az', limit: 7 })).length, 100);
});

test('a prefix that many plants match does not slow down each pass of a search', async () => {
  const path = join(makeFolder(), 'plants.db');
  const onFailure = () => assert.fail('failed');
  const own = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure });
  const plants = Array.from({ length: 20_000 }, (_, n) => ({ id: BigInt(n), name: `ab${n} common` }));
  await own.import(plants, by);
  await own.close();
  const db = openReader(path);
  const { count } = prepareReads(db);
  const costOf = async (q: string) => {
    const before = process.threadCpuUsage();
    assert.equal((await count({ q })).plants, plants.length);
    return process.threadCpuUsage(before).user;
  };
  await quickEnough(2, async () => (await costOf('ab common')) / (await costOf('common')));
  db.close();
});

test('every list uses an index, and no query plan scans the plants', () => {
  const plans = [
    'SELECT * FROM plants WHERE id >= 5 ORDER BY id LIMIT 100',
    `SELECT plants.* FROM words JOIN plants ON plants.id = words.rowid
     WHERE words MATCH '"a"*' AND words.rowid >= 5 ORDER BY words.rowid LIMIT 100`,
  ].map((sql) => query(path, `EXPLAIN QUERY PLAN ${sql}`).map(({ detail }) => detail));
  assert.deepEqual(plans, [
    ['SEARCH plants USING INTEGER PRIMARY KEY (rowid>?)'],
    ['SCAN words VIRTUAL TABLE INDEX 64:M1>', 'SEARCH plants USING INTEGER PRIMARY KEY (rowid=?)'],
  ]);
});
