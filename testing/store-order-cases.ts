// The cases of lists in any order, counts, histories and filtered pages of the change log, which every plant store must
// pass.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change, ChangeLog, ChangePageQuery } from '../src/domain/change.ts';
import { SORTS } from '../src/domain/names.ts';
import type { Author, ListQuery, NewPlant, PlantStore } from '../src/domain/plant.ts';
import { codePoints } from './code-points.ts';
import { inOrder, refuses, walk } from './store-walk.ts';

interface Tested {
  store: PlantStore & ChangeLog;
  by: Author;
}

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;
const LONG = 'n'.repeat(499);

/** Names that sort differently by UTF-16 units, by bytes, or without folding. */
const NAMES = [
  '',
  'b',
  'B',
  'a',
  'Á',
  'É',
  'e',
  'Ze',
  'z',
  '植',
  '\u{1f335}',
  '\uffee',
  `${LONG}zz`,
  `${LONG}za`,
  '~',
  '0',
];

export const ORDER_CASES: Record<string, (tested: Tested) => Promise<void>> = {
  async 'list() sorts by id, name and time, in both directions and in pages of any size'({ store, by }) {
    const plants = [...NAMES, ...NAMES].map((name, at) => ({
      id: BigInt((at * 7) % 100) - 50n,
      name,
      tag: `${at % 3}`,
    }));
    plants.push({ id: MAX, name: '', tag: '1' }, { id: MIN, name: '', tag: '2' });
    await store.import(plants.slice(0, 20), by);
    for (const plant of plants.slice(20)) await store.create(plant, by);
    const all = await walk(store, {});
    assert.equal(all.length, plants.length);
    for (const sort of SORTS) {
      const expected = inOrder(all, sort);
      for (const limit of [1, 5, 1000])
        assert.deepEqual(await walk(store, { sort, limit }), expected, `${sort} ${limit}`);
    }
    for (const filter of [{ tag: '1' }, { tag: ['2', '0'] }, { q: 'n' }] as ListQuery[]) {
      const matching = await walk(store, filter);
      for (const sort of SORTS) {
        assert.deepEqual(await walk(store, { ...filter, sort, limit: 3 }), inOrder(matching, sort), sort);
      }
    }
  },

  async 'list() with an offset returns what a walk returns after as many plants'({ store, by }) {
    const tags = ['plain', 'Full Sun', '\ue00046ull\ue00020\ue00053un', 'x'.repeat(10_000), undefined]; // The long one fits in a URL.
    const plants = Array.from({ length: 61 }, (_, at) => ({
      id: BigInt((at * 37) % 101) - 50n,
      name: `${NAMES[at % NAMES.length]} n${at % 7}`,
      tag: tags[at % tags.length],
    }));
    plants.push({ id: MAX, name: 'n', tag: 'plain' }, { id: MIN, name: 'n', tag: 'Full Sun' });
    await store.import(plants.slice(0, 30), by);
    for (const plant of plants.slice(30)) await store.create(plant, by);
    await store.patch(plants[0]?.id as bigint, { name: 'renamed n' }, by);
    await store.delete(plants[1]?.id as bigint, by);
    const filters: ListQuery[] = [
      {},
      ...tags.map((tag) => ({ tag, untagged: tag === undefined })),
      { tag: ['plain', 'Full Sun', 'none'] },
      { tag: 'plain', untagged: true },
      { q: 'n3' },
      { q: 'n', tag: 'Full Sun' },
      { tag: 'none' },
      { q: '-' },
    ];
    for (const filter of filters) {
      for (const sort of SORTS) {
        const query = { ...filter, sort };
        const expected = await walk(store, query);
        const end = expected.length;
        const offsets = new Set([
          0,
          1,
          Math.floor(end / 2),
          Math.ceil(end / 2) + 1,
          Math.max(0, end - 1),
          end,
          end + 1,
        ]);
        for (const offset of [...offsets, Number.MAX_SAFE_INTEGER]) {
          const message = `${JSON.stringify(query).slice(0, 100)} ${offset}`;
          const { records, next } = await store.list({ ...query, offset, limit: 3 });
          assert.deepEqual(records, expected.slice(offset, offset + 3), message);
          assert.equal(next !== undefined, offset + 3 < end, message);
        }
        assert.deepEqual(await walk(store, { ...query, offset: 1, limit: 9 }), expected.slice(1));
      }
    }
  },

  async 'list() with an offset refuses a cursor'({ store, by }) {
    for (const id of [1n, 2n]) await store.create({ id, name: 'n' }, by);
    const { next: cursor } = await store.list({ limit: 1 });
    for (const offset of [0, 1]) {
      const error = await refuses('bad_parameter', store.list({ cursor, offset }));
      assert.match(error.message, /"offset" and "cursor" exclude each other. Send/);
    }
  },

  async 'list() with an offset counts long records that a page cannot hold'({ store, by }) {
    const plants = Array.from({ length: 30 }, (_, at) => ({ id: BigInt(at), name: `${at % 3} ${'é'.repeat(30_000)}` }));
    await store.import(plants, by);
    for (const filter of [{}, { untagged: true }]) {
      for (const sort of ['id', '-name'] as const) {
        const expected = await walk(store, { ...filter, sort });
        assert.deepEqual(await walk(store, { ...filter, sort, offset: 12 }), expected.slice(12), sort);
      }
    }
  },

  async 'list() by name follows renames, deletes and changes of the tag'({ store, by }) {
    const names = async () => (await walk(store, { sort: 'name', limit: 2 })).map(({ name }) => name);
    await store.import(
      ['delta', 'Älpha', 'gamma', 'Beta'].map((name, at) => ({ id: BigInt(at), name })),
      by,
    );
    assert.deepEqual(await names(), ['Älpha', 'Beta', 'delta', 'gamma']);
    await store.patch(1n, { name: 'omega' }, by);
    await store.patch(2n, { tag: 'new' }, by);
    await store.delete(0n, by);
    assert.deepEqual(await names(), ['Beta', 'gamma', 'omega']);
    await store.create({ id: 0n, name: 'Élan' }, by);
    await store.put(1n, { name: 'Älpha' }, by);
    assert.deepEqual(await names(), ['Älpha', 'Beta', 'Élan', 'gamma']);
    await store.delete(3n, by);
    await store.create({ id: 3n, name: 'zeta' }, by);
    assert.deepEqual(await names(), ['Älpha', 'Élan', 'gamma', 'zeta']);
  },

  async 'list() sorts any names as the definition does'({ store, by }) {
    const text = fc
      .string({ unit: codePoints, maxLength: 6 })
      .filter((name) => name.isWellFormed() && !name.includes('\0'));
    const [names] = fc.sample(fc.array(text, { minLength: 150, maxLength: 150 }), 1) as [string[]];
    await store.import(
      names.map((name, at) => ({ id: BigInt(at), name })),
      by,
    );
    const all = await walk(store, {});
    assert.deepEqual(await walk(store, { sort: 'name', limit: 40 }), inOrder(all, 'name'));
    assert.deepEqual(await walk(store, { sort: '-name', limit: 40 }), inOrder(all, '-name'));
  },

  async 'list() in a walk by time returns each unchanged plant, and a changed one again'({ store, by }) {
    await store.import(
      Array.from({ length: 9 }, (_, at) => ({ id: BigInt(at), name: `n${at}` })),
      by,
    );
    const first = await store.list({ sort: 'updated', limit: 4 });
    await new Promise((resolve) => setTimeout(resolve, 2));
    await store.patch(0n, { name: 'changed' }, by);
    await store.delete(8n, by);
    const seen = [...first.records, ...(await walk(store, { sort: 'updated', cursor: first.next }))];
    assert.deepEqual(
      seen.map(({ id }) => Number(id)),
      [0, 1, 2, 3, 4, 5, 6, 7, 0],
    );
  },

  async 'list() filters by several tags and by a missing tag'({ store, by }) {
    const plants: NewPlant[] = [
      { id: 1n, name: 'Rosa one', tag: 'a' },
      { id: 2n, name: 'Rosa two', tag: 'B,"' },
      { id: 3n, name: 'Rosa three' },
      { id: 4n, name: 'Viola', tag: '' },
      { id: 5n, name: 'Viola two' },
    ];
    await store.import(plants.slice(0, 3), by);
    for (const plant of plants.slice(3)) await store.create(plant, by);
    const find = async (query: ListQuery) => {
      const ids = (await walk(store, { ...query, limit: 2 })).map(({ id }) => Number(id));
      const { sort: _, ...filter } = query;
      assert.deepEqual(await store.count(filter), { plants: ids.length, isMore: false });
      return ids;
    };
    assert.deepEqual(await find({ tag: ['a', 'B,"', 'a'] }), [1, 2]);
    assert.deepEqual(await find({ tag: ['a', ''], untagged: true }), [1, 3, 4, 5]);
    assert.deepEqual(await find({ untagged: true }), [3, 5]);
    assert.deepEqual(await find({ untagged: true, q: 'two' }), [5]);
    assert.deepEqual(await find({ untagged: true, tag: 'a', q: 'ros', sort: '-name' }), [3, 1]);
    assert.deepEqual(await find({ untagged: false, tag: [] }), [1, 2, 3, 4, 5]);
    assert.deepEqual(await find({ q: ' \t ' }), [1, 2, 3, 4, 5]);
    assert.deepEqual(await find({ q: '&-', untagged: true }), []);
    await store.patch(3n, { tag: 'a' }, by);
    await store.patch(1n, { tag: null }, by);
    await store.delete(5n, by);
    assert.deepEqual(await find({ untagged: true }), [1]);
    assert.deepEqual(await find({ tag: 'a' }), [3]);
  },

  async 'a cursor belongs to its sort, tags and search'({ store, by }) {
    await store.import(
      Array.from({ length: 6 }, (_, at) => ({ id: BigInt(at), name: `n${at}`, tag: 't' })),
      by,
    );
    const queries: ListQuery[] = [
      ...SORTS.map((sort) => ({ sort })),
      ...SORTS.map((sort) => ({ sort, tag: 't' })),
      { tag: ['t', 'u'] },
      { tag: 't', untagged: true },
      { untagged: true, tag: ['t', 'u'] },
    ];
    for (const query of queries) {
      const { next = '' } = await store.list({ ...query, limit: 2 });
      assert.ok(next);
      for (const other of queries) {
        const listed = store.list({ ...other, limit: 2, cursor: next });
        if (other === query) assert.equal((await listed).records.length, 2);
        else await refuses('bad_parameter', listed);
      }
      for (const cursor of [`${next}A`, next.slice(0, -2), `${next}AAAA`]) {
        if (query.sort?.endsWith('name') && cursor === `${next}AAAA`) continue; // a NUL byte is refused, see below
        await refuses('bad_parameter', store.list({ ...query, cursor }));
      }
    }
    const { next = '' } = await store.list({ sort: 'name', limit: 2 });
    const nul = Buffer.concat([Buffer.from(next, 'base64url'), Buffer.from([0])]).toString('base64url');
    await refuses('bad_parameter', store.list({ sort: 'name', cursor: nul }));
    const notUtf8 = Buffer.concat([Buffer.from(next, 'base64url'), Buffer.from([0xff])]).toString('base64url');
    await refuses('bad_parameter', store.list({ sort: 'name', cursor: notUtf8 }));
  },

  async 'list() sorts at most 10,000 matches of a filter, with an offset as well'({ store, by }) {
    const plants = Array.from({ length: 10_000 }, (_, at) => ({ id: BigInt(at), name: `n${at}`, tag: 't' }));
    await store.import(plants, by);
    const last = await store.list({ tag: 't', sort: '-id', limit: 1 });
    assert.deepEqual(
      last.records.map(({ id }) => id),
      [9999n],
    );
    await store.create({ id: 10_000n, name: 'one more', tag: 't' }, by);
    for (const sort of SORTS.filter((one) => one !== 'id')) {
      const error = await refuses('bad_parameter', store.list({ tag: 't', sort }));
      assert.match(error.message, /10000 matches.*Narrow the filter/);
      assert.equal((await store.list({ sort, limit: 3 })).records.length, 3);
      await refuses('bad_parameter', store.list({ tag: 't', sort, offset: 9000 }));
      assert.equal((await store.list({ sort, offset: 9999 })).records.length, 2);
    }
    assert.equal((await store.list({ tag: 't', limit: 3 })).records.length, 3);
    assert.deepEqual((await store.list({ tag: 't', offset: 10_000 })).records[0]?.id, 10_000n);
    assert.deepEqual(await store.count({ tag: 't' }), { plants: 10_001, isMore: false });
    assert.deepEqual(await store.count(), { plants: 10_001, isMore: false });
  },

  async 'count() without a filter is exact after each kind of write'({ store, by }) {
    const plants = async () => (await store.count()).plants;
    assert.equal(await plants(), 0);
    await store.import(
      [1n, 2n, 3n, 2n].map((id) => ({ id, name: 'x' })),
      by,
    );
    assert.equal(await plants(), 3);
    await store.create({ id: 4n, name: 'x' }, by);
    await store.create({ id: 4n, name: 'x' }, by);
    await refuses('id_taken', store.create({ id: 4n, name: 'y' }, by));
    await store.put(5n, { name: 'x' }, by);
    await store.put(5n, { name: 'y' }, by);
    assert.equal(await plants(), 5);
    await Promise.all([1n, 2n, 5n].map((id) => store.delete(id, by)));
    await Promise.all([6n, 7n].map((id) => store.create({ id, name: 'z' }, by)));
    assert.equal(await plants(), 4);
    await store.import(
      [
        { id: 4n, name: 'x' },
        { id: 4n, name: 'other' },
        { id: 8n, name: 'x' },
      ],
      by,
    );
    assert.equal(await plants(), 5);
  },

  async 'history() returns the changes of a plant, newest first'({ store, by }) {
    await store.create({ id: 1n, name: 'old life' }, by);
    await store.delete(1n, by);
    await refuses('not_found', store.history(1n));
    const made = await store.create({ id: 1n, name: 'a', tag: 't' }, by);
    await store.create({ id: 2n, name: 'other' }, by);
    for (const name of ['b', 'c', 'd']) await store.patch(1n, { name }, by);
    await store.patch(2n, { tag: 'x' }, by);
    const { changes, next } = await store.history(1n);
    assert.equal(next, undefined);
    assert.deepEqual(
      changes.map(({ type, plant }) => [type, plant.name]),
      [
        ['plant.updated', 'd'],
        ['plant.updated', 'c'],
        ['plant.updated', 'b'],
        ['plant.created', 'a'],
      ],
    );
    assert.equal(changes.at(-1)?.seq, made.seq);
    const paged: Change[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await store.history(1n, { limit: 3, cursor });
      paged.push(...page.changes);
      if (page.next === undefined) break;
      cursor = page.next;
    }
    assert.deepEqual(paged, changes);
    const { next: cursor } = await store.history(1n, { limit: 2 });
    await refuses('bad_parameter', store.history(2n, { cursor }));
    await refuses('bad_parameter', store.history(1n, { cursor: 'x' }));
    await refuses('bad_parameter', store.history(3n, { cursor: 'x' }));
    await refuses('not_found', store.history(3n));
    await store.delete(1n, by);
    await refuses('not_found', store.history(1n, { cursor }));
    assert.deepEqual(
      (await store.history(2n)).changes.map(({ type }) => type),
      ['plant.updated', 'plant.created'],
    );
  },

  async 'changePage() filters and reverses the change log'({ store, by }) {
    const start = await store.lastSeq();
    for (let at = 0; at < 5; at++) await store.create({ id: BigInt(at), name: `n${at}` }, by);
    await store.patch(3n, { name: 'changed' }, by);
    await store.delete(4n, by);
    assert.equal(await store.lastSeq(), start + 7);
    const all = (await store.changePage({ after: start })).changes;
    assert.deepEqual(
      all.map(({ seq }) => seq),
      [1, 2, 3, 4, 5, 6, 7].map((at) => start + at),
    );
    const pages = (query: ChangePageQuery) => walkChanges(store, { after: start, ...query });
    assert.deepEqual(await pages({ order: 'desc' }), all.toReversed());
    assert.deepEqual(await pages({ order: 'desc', limit: 2 }), all.toReversed());
    assert.deepEqual(await pages({ limit: 3 }), all);
    assert.deepEqual(await pages({ before: start + 3 }), all.slice(0, 2));
    assert.deepEqual(await pages({ type: 'plant.deleted' }), all.slice(6));
    assert.deepEqual(await pages({ type: 'plant.created', order: 'desc', limit: 2 }), all.slice(0, 5).toReversed());
    assert.deepEqual(await pages({ token: by.tokenId, limit: 4 }), all);
    for (const token of ['tok_none', '', 'tok\0', '\u{1f335}']) assert.deepEqual(await pages({ token }), []);
    const times = all.map(({ time }) => Date.parse(time));
    const [first = 0, middle = 0, last = 0] = [times[0], times[3], times[6]];
    for (const [sinceMs, untilMs] of [
      [first, last],
      [middle, last],
      [first, middle],
      [middle, middle],
      [last + 1, last + 2],
      [first - 2, first - 1],
    ] as const) {
      const expected = all.filter((_, at) => (times[at] as number) >= sinceMs && (times[at] as number) <= untilMs);
      assert.deepEqual(await pages({ sinceMs, untilMs }), expected);
      assert.deepEqual(await pages({ sinceMs, untilMs, order: 'desc', limit: 1 }), expected.toReversed());
    }
    await refuses('changes_pruned', store.changePage({ after: start + 8 }));
  },

  async 'changePage() scans a limited number of changes'({ store, by }) {
    const start = await store.lastSeq();
    await store.create({ id: -1n, name: 'first' }, by);
    await store.delete(-1n, by);
    await store.import(
      Array.from({ length: 12_000 }, (_, at) => ({ id: BigInt(at), name: 'x' })),
      by,
    );
    const page = await store.changePage({ order: 'desc', type: 'plant.deleted', after: start });
    assert.deepEqual(page, { changes: [], next: start + 12_002 - 5000 + 1 });
    const found = await walkChanges(store, { order: 'desc', type: 'plant.deleted', after: start });
    assert.deepEqual(
      found.map(({ seq }) => seq),
      [start + 2],
    );
    const upwards = await store.changePage({ type: 'plant.deleted', after: start + 2 });
    assert.deepEqual(upwards, { changes: [], next: start + 5002 });
    const [exact, one] = [{ before: start + 5003 }, { before: start + 5004 }];
    assert.deepEqual(await store.changePage({ type: 'plant.deleted', after: start + 2, ...exact }), { changes: [] });
    assert.deepEqual(await store.changePage({ type: 'plant.deleted', after: start + 2, ...one }), {
      changes: [],
      next: start + 5002,
    });
  },
};

/** Returns the changes of all pages. */
async function walkChanges(store: ChangeLog, query: ChangePageQuery): Promise<Change[]> {
  const changes: Change[] = [];
  for (let from: ChangePageQuery = {}; ; ) {
    const page = await store.changePage({ ...query, ...from });
    changes.push(...page.changes);
    if (page.next === undefined) return changes;
    from = query.order === 'desc' ? { before: page.next } : { after: page.next };
  }
}
