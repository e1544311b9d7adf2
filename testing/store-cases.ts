// The cases that every plant store must pass, on each database. A case starts with an empty store
// except for its change log.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import fc from 'fast-check';
import type { Change, ChangeStore } from '../src/domain/change.ts';
import type { PlantStoreError } from '../src/domain/errors.ts';
import { hasWords, queryWords } from '../src/domain/name-search.ts';
import type { Author, ListQuery, NewPlant, PlantRecord, PlantStore } from '../src/domain/plant.ts';
import { MODEL_CASES } from './store-model-cases.ts';
import { ORDER_CASES } from './store-order-cases.ts';
import { refuses, walk } from './store-walk.ts';

interface Tested {
  store: PlantStore & Omit<ChangeStore, 'pruneChanges'>;
  by: Author;
}

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;

const STORE_CASES: Record<string, (tested: Tested) => Promise<void>> = {
  async 'create() stores a plant that get() returns, from the smallest to the largest id'({ store, by }) {
    for (const plant of [
      { id: MAX, name: 'max' },
      { id: MIN, name: '', tag: '' },
      { id: 9007199254740993n, name: ' Été\u2028"\\\n🌵 ', tag: 'a,b' },
    ]) {
      const created = await store.create(plant, by);
      const { record, seq } = await store.get(plant.id);
      const { created: createdAt, updated, ...read } = record;
      assert.deepEqual(read, plant);
      assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(updated, createdAt);
      assert.deepEqual(created, { seq, replayed: false });
    }
  },

  async 'create() of the same plant is a replay; of another plant with its id, an error'({ store, by }) {
    const first = await store.create({ id: 1n, name: 'x', tag: 'y' }, by);
    const again = await store.create({ id: 1n, name: 'x', tag: 'y' }, { tokenId: 'tok_of_the_replay' });
    assert.deepEqual(again, { seq: first.seq, replayed: true });
    for (const other of [{ name: 'X', tag: 'y' }, { name: 'x' }, { name: 'x', tag: '' }]) {
      await refuses('id_taken', store.create({ id: 1n, ...other }, by));
    }
    const changes = await changesAfter(store, first.seq - 1);
    assert.deepEqual(
      changes.map(({ seq, token }) => ({ seq, token })),
      [{ seq: first.seq, token: by.tokenId }],
      'one change, with the token of the first create',
    );
  },

  async 'of concurrent create() calls for one id, one succeeds'({ store, by }) {
    const race = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => store.create({ id: 7n, name: `by ${n}` }, by)),
    );
    assert.equal(race.filter(({ status }) => status === 'fulfilled').length, 1);
  },

  async 'get() of a missing plant throws not_found'({ store }) {
    await refuses('not_found', store.get(5n));
  },

  async 'put() creates or replaces a plant, and does not change an equal one'({ store, by }) {
    const made = await store.put(1n, { name: 'a', tag: 't' }, by);
    assert.deepEqual(await store.get(1n), made);
    const replaced = await store.put(1n, { name: 'b' }, by);
    assert.ok(replaced.seq > made.seq);
    assert.deepEqual(
      { ...replaced.record, updated: '' },
      { id: 1n, name: 'b', created: made.record.created, updated: '' },
    );
    assert.deepEqual(await store.put(1n, { name: 'b' }, by), replaced);
    assert.deepEqual(
      (await changesAfter(store, made.seq)).map(({ seq, type, plant }) => ({ seq, type, plant })),
      [{ seq: replaced.seq, type: 'plant.updated', plant: { id: 1n, name: 'b' } }],
    );
  },

  async 'patch() changes only the given fields'({ store, by }) {
    await store.create({ id: 1n, name: 'a', tag: 't' }, by);
    const plantAfter = async (patch: { id?: bigint; name?: string; tag?: string | null }) => {
      const { name, tag } = (await store.patch(1n, patch, by)).record;
      return { name, tag };
    };
    assert.deepEqual(await plantAfter({ name: 'b' }), { name: 'b', tag: 't' });
    assert.deepEqual(await plantAfter({ tag: '' }), { name: 'b', tag: '' });
    assert.deepEqual(await plantAfter({ tag: null, id: 1n }), { name: 'b', tag: undefined });
    const before = await store.get(1n);
    assert.deepEqual(await store.patch(1n, {}, by), before);
    await refuses('not_valid', store.patch(1n, { id: 2n, name: 'c' }, by));
    await refuses('not_found', store.patch(9n, { name: 'c' }, by));
    assert.deepEqual(await store.get(1n), before);
  },

  async 'delete() frees the id, and its version is never used again'({ store, by }) {
    const { seq } = await store.create({ id: 1n, name: 'a' }, by);
    assert.equal(await store.delete(1n, by), undefined);
    await refuses('not_found', store.get(1n));
    await refuses('not_found', store.delete(1n, by));
    const again = await store.create({ id: 1n, name: 'a' }, by);
    assert.equal(again.replayed, false);
    assert.ok(again.seq > seq + 1);
  },

  async 'a write succeeds only if its condition is met'({ store, by }) {
    const { seq } = await store.create({ id: 1n, name: 'a' }, by);
    const error = await refuses('condition_failed', store.put(1n, { name: 'b' }, { ...by, ifMatch: [seq + 1] }));
    assert.equal(error.detail.seq, seq);
    await refuses('condition_failed', store.put(1n, { name: 'b' }, { ...by, ifNoneMatch: '*' }));
    await refuses('condition_failed', store.put(2n, { name: 'b' }, { ...by, ifMatch: '*' }));
    await refuses('condition_failed', store.patch(1n, { name: 'b' }, { ...by, ifMatch: [] }));
    await refuses('condition_failed', store.delete(1n, { ...by, ifMatch: [seq + 1, seq + 2] }));
    await refuses('not_found', store.patch(2n, { name: 'b' }, { ...by, ifMatch: '*' }));
    await refuses('not_found', store.delete(2n, { ...by, ifMatch: [seq] }));
    assert.equal((await store.get(1n)).record.name, 'a');
    assert.equal((await store.put(2n, { name: 'b' }, { ...by, ifNoneMatch: '*' })).record.name, 'b');
    const patched = await store.patch(1n, { name: 'b' }, { ...by, ifMatch: [5, seq] });
    await store.delete(1n, { ...by, ifMatch: [patched.seq] });
  },

  async 'of concurrent writes that replace one version, one succeeds'({ store, by }) {
    const { seq } = await store.create({ id: 1n, name: 'a' }, by);
    const race = await Promise.allSettled(
      Array.from({ length: 20 }, (_, n) => store.put(1n, { name: `by ${n}` }, { ...by, ifMatch: [seq] })),
    );
    assert.equal(race.filter(({ status }) => status === 'fulfilled').length, 1);
  },

  async 'list() returns pages in ascending order, from the smallest to the largest id'({ store, by }) {
    const ids = [MIN, -9007199254740993n, -2n, -1n, 0n, 1n, 2n, 9007199254740992n, 9007199254740993n, MAX - 1n, MAX];
    await store.import(
      ids.toReversed().map((id) => ({ id, name: `n ${id}`, tag: 't' })),
      by,
    );
    for (const limit of [1, 2, 3, 11, 100]) {
      for (const filter of [{}, { tag: 't' }, { q: 'n' }]) {
        assert.deepEqual(
          (await walk(store, { limit, ...filter })).map(({ id }) => id),
          ids,
        );
      }
    }
    assert.equal((await store.list({ limit: 11 })).next, undefined);
    assert.equal((await store.list({ limit: 11, tag: 't' })).next, undefined);
  },

  async 'summary() counts plants by tag and changes by hour'({ store, by }) {
    const tags = ['', 'a', 'B', 'é', '\uffff', '🌵', ' a', 'a\n"'];
    const plants = Array.from({ length: 300 }, (_, n): NewPlant => {
      const tag = n < 150 ? tags[n % tags.length] : n < 270 ? `t${n}` : undefined;
      return { id: BigInt(n) * 1_000_000_007n - MAX / 2n, name: 'x', ...(tag !== undefined && { tag }) };
    });
    await store.import(plants, by);
    await store.patch(plants[299]?.id as bigint, { tag: '🌵' }, by);

    const { plants: count, untagged, tags: counted, lastChange, changes } = await store.summary();
    const expected = new Map<string, number>();
    for (const { tag } of await walk(store, {})) if (tag !== undefined) expected.set(tag, (expected.get(tag) ?? 0) + 1);
    const byTag = [...expected].sort(([a, n], [b, m]) => m - n || Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual([count, untagged], [300, 29]);
    assert.equal(byTag.length, 128);
    assert.deepEqual(
      counted.map(({ tag, plants: having }) => [tag, having]),
      byTag.slice(0, 100),
    );
    const hours = new Map<string, number>();
    let last = 0;
    for (let page = await store.changes(); page.length > 0; page = await changesAfter(store, last)) {
      for (const { time, seq } of page) {
        const hour = `${time.slice(0, 13)}:00:00.000Z`;
        hours.set(hour, (hours.get(hour) ?? 0) + 1);
        last = seq;
      }
    }
    assert.equal(lastChange, last);
    assert.deepEqual(
      changes.map((each) => [each.hour, each.changes]),
      [...hours],
    );
  },

  async 'list() accepts a cursor only with the filter that it was issued for'({ store, by }) {
    await store.import(
      [1n, 2n, 3n].map((id) => ({ id, name: 'Mon Del', tag: 't' })),
      by,
    );
    const { next } = await store.list({ limit: 1, tag: 't', q: 'mon del' });
    assert.ok(next);
    assert.equal((await store.list({ limit: 5, tag: 't', q: 'DEL mon', cursor: next })).records.length, 2);
    for (const filter of [{}, { tag: 't' }, { q: 'mon del' }, { tag: 'T', q: 'mon del' }, { tag: 't', q: 'mon' }]) {
      await refuses('bad_parameter', store.list({ ...filter, cursor: next }));
    }
    for (const cursor of ['', 'x', `${next}A`, `${next.slice(0, -1)}_`, '=', 'é']) {
      await refuses('bad_parameter', store.list({ tag: 't', q: 'mon del', cursor }));
    }
  },

  async 'a walk returns every record that exists throughout exactly once'({ store, by }) {
    const staying = Array.from({ length: 300 }, (_, n) => ({ id: BigInt(n * 10), name: 'Staying here', tag: 's' }));
    await store.import(staying, by);
    for (const filter of [{}, { tag: 's' }, { q: 'stay' }]) {
      let coming = 1n;
      const seen: bigint[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.list({ limit: 7, ...filter, cursor });
        seen.push(...page.records.map(({ id }) => id));
        cursor = page.next;
        const last = page.records.at(-1)?.id ?? 0n;
        await Promise.all(
          [last - 1n, last + 1n, last + 5n, coming].map((near) =>
            store.put(near - (near % 10n === 0n ? 1n : 0n), { name: 'Staying not', tag: 's' }, by),
          ),
        );
        coming += 7n;
        if ((last + 1n) % 10n !== 0n) await store.delete(last + 1n, by).catch(() => {});
      } while (cursor !== undefined);
      assert.deepEqual(
        seen,
        seen.toSorted((a, b) => (a < b ? -1 : 1)),
      );
      assert.equal(new Set(seen).size, seen.length);
      assert.deepEqual(
        seen.filter((id) => id % 10n === 0n),
        staying.map(({ id }) => id),
      );
    }
  },

  async 'list() finds names by word prefixes'({ store, by }) {
    const names = [
      'Monstera deliciosa',
      'Été indien',
      'E\u0301te\u0301',
      "Rosa 'Peace' (hybrid)",
      'Straße STRASSE',
      'Łódź ø',
      'ΟΔΟΣ οδός',
      'Ⅳ ﬁcus ２０２４',
      '한국 장미',
      'がくアジサイ',
      'x-y_z 3.5',
      'İstanbul Isparta ısı',
      '',
      '×Fatshedera',
      'हिन्दी',
      '🌶️Pepper',
      'ᾠδή',
      `a${'я'.repeat(17_000)}`,
      '植'.repeat(12_000),
    ];
    await store.import(
      names.map((name, at) => ({ id: BigInt(at), name })),
      by,
    );
    const all = names.map((_, at) => at);
    for (const [q, expected] of [
      ['mon del', [0]],
      ['DELI monster', [0]],
      ['onstera', []],
      ['mon mon', [0]],
      ['mon monstera', [0]],
      ['monx', []],
      ['ete', [1, 2]],
      ['ÉTÉ', [1, 2]],
      ['e', [1, 2]],
      ['ete i', [1]],
      ['peace', [3]],
      ["'peace'", [3]],
      ['hybrid rosa', [3]],
      ['strasse', [4]],
      ['straß', [4]],
      ['lodz', [5]],
      ['o', [5, 6].slice(0, 1)],
      ['οδος', [6]],
      ['οδοσ', [6]],
      ['ΟΔ', [6]],
      ['iv', [7]],
      ['ficus', [7]],
      ['2024', [7]],
      ['한', [8]],
      ['하', []],
      ['국', []],
      ['がく', [9]],
      ['かく', []],
      ['y', [10]],
      ['z', [10]],
      ['3.5', [10]],
      ['istanbul', [11]],
      ['isi', [11]],
      ['fatsh', [13]],
      ['×', []],
      ['हि', [14]],
      ['ह', [14]],
      ['हन', []],
      ['pepper', [15]],
      ['ωδη', [16]],
      ['aя', [17]],
      ['植植', [18]],
      ['я', []],
      ['', all],
      ['  !!  ', []],
      [' \t ', all],
      ['" OR *', []],
      ['mon AND del', []],
      ['mon NOT', []],
      ['x', [10]],
    ] as [string, number[]][]) {
      const found = (await walk(store, { q, limit: 4 })).map(({ id }) => Number(id));
      assert.deepEqual(found, expected, `q=${q}`);
    }
  },

  async 'list() matches tags exactly, also together with words'({ store, by }) {
    const tags = [
      'tree',
      'Tree',
      'tree ',
      'tre',
      'a b',
      'a',
      'a-b',
      'a_b',
      '',
      '\ue000',
      '\ue00061',
      'é',
      'e\u0301',
      '"',
      '日本',
    ];
    await store.import(
      tags.map((tag, at) => ({ id: BigInt(at), name: at % 2 ? 'odd one' : 'even one', tag })),
      by,
    );
    await store.create({ id: 100n, name: 'no tag' }, by);
    for (const [at, tag] of tags.entries()) {
      assert.deepEqual(
        (await walk(store, { tag })).map(({ id }) => Number(id)),
        [at],
        `tag=${tag}`,
      );
      assert.equal((await walk(store, { tag, q: 'one odd' })).length, at % 2);
    }
    assert.deepEqual(await walk(store, { tag: 'none' }), []);
  },

  async 'list() no longer finds a name after it was changed or deleted'({ store, by }) {
    await store.import(
      [
        { id: 1n, name: 'Alpha one', tag: 'a' },
        { id: 2n, name: 'Älpha two', tag: 'a' },
      ],
      by,
    );
    await store.put(1n, { name: 'Beta one', tag: 'b' }, by);
    await store.patch(2n, { tag: null }, by);
    const find = async (query: ListQuery) => (await walk(store, query)).map(({ id }) => Number(id));
    assert.deepEqual(await find({ q: 'alpha' }), [2]);
    assert.deepEqual(await find({ q: 'beta', tag: 'b' }), [1]);
    assert.deepEqual(await find({ tag: 'a' }), []);
    await store.delete(2n, by);
    assert.deepEqual(await find({ q: 'a' }), []);
    await store.create({ id: 2n, name: 'Gamma' }, by);
    assert.deepEqual(await find({ q: 'two' }), []);
    assert.deepEqual(await find({ q: 'gam' }), [2]);
  },

  async 'import() creates each plant as create() does'({ store, by }) {
    const before = await store.lastSeq();
    await store.create({ id: 3n, name: 'there' }, by);
    const result = await store.import(
      [
        { id: 5n, name: 'new', tag: 'Ü' },
        { id: 3n, name: 'there' },
        { id: 3n, name: 'other' },
        { id: 5n, name: 'new', tag: 'Ü' },
        { id: 5n, name: 'new' },
        { id: -5n, name: 'last' },
      ],
      by,
    );
    const { errors, ...counts } = result;
    assert.deepEqual(counts, { created: 2, replayed: 2, failed: 2 });
    assert.deepEqual(
      errors.map(({ line, error }) => [line, error.code]),
      [
        [3, 'id_taken'],
        [5, 'id_taken'],
      ],
    );
    assert.match(errors[0]?.error.message ?? '', /^Id 3 belongs to another plant/);
    const changes = await changesAfter(store, before);
    assert.deepEqual(
      changes.map(({ plant }) => plant.id),
      [3n, 5n, -5n],
    );
    for (const { seq, plant } of changes) assert.equal((await store.get(plant.id)).seq, seq);
    assert.deepEqual(await store.import([], by), { created: 0, replayed: 0, failed: 0, errors: [] });
  },

  async 'import() reports every plant that it rejects'({ store, by }) {
    await store.create({ id: 0n, name: 'x' }, by);
    const { errors, ...counts } = await store.import(
      Array.from({ length: 2500 }, () => ({ id: 0n, name: 'y' })),
      by,
    );
    assert.deepEqual(counts, { created: 0, replayed: 0, failed: 2500 });
    assert.deepEqual(
      errors.map(({ line }) => line),
      Array.from({ length: 2500 }, (_, at) => at + 1),
    );
  },

  async 'export() returns a consistent snapshot of its start'({ store, by }) {
    const plants = Array.from({ length: 1500 }, (_, n) => ({ id: BigInt(n), name: `Plant\n${n}`, tag: '=' }));
    await store.import(plants, by);
    const { seq, plants: exported } = await store.export();
    assert.equal(seq, (await store.get(1499n)).seq);
    const read: NewPlant[] = [];
    for await (const plant of exported) {
      if (read.push(plant) === 1) {
        await store.delete(1499n, by);
        await store.put(1498n, { name: 'changed' }, by);
        await store.create({ id: 9999n, name: 'late' }, by);
      }
    }
    assert.deepEqual(read, plants);
    const again = await store.export();
    for await (const plant of again.plants) if (plant.id === 3n) break;
    (await store.export()).close();
  },

  async 'changes() returns the change log in order, in pages'({ store, by }) {
    const before = await store.lastSeq();
    await store.create({ id: 1n, name: 'a', tag: 't' }, by);
    await store.put(1n, { name: 'b' }, by);
    await store.delete(1n, by);
    const changes = await store.changes({ after: before });
    assert.deepEqual(
      changes.map(({ type, plant }) => ({ type, plant })),
      [
        { type: 'plant.created', plant: { id: 1n, name: 'a', tag: 't' } },
        { type: 'plant.updated', plant: { id: 1n, name: 'b' } },
        { type: 'plant.deleted', plant: { id: 1n, name: 'b' } },
      ],
    );
    assert.ok(changes.every(({ token, time }) => token === by.tokenId && !Number.isNaN(Date.parse(time))));
    const second = changes[1] as Change;
    assert.deepEqual(await store.changes({ after: second.seq - 1, limit: 1 }), [second]);
    assert.deepEqual(await store.changes({ after: (changes[2] as Change).seq }), []);
  },

  async 'changes() and follow() after a number that was never issued throw changes_pruned'({ store, by }) {
    const { seq } = await store.create({ id: 1n, name: 'a' }, by);
    assert.deepEqual(await store.changes({ after: seq }), []); // Returns at once for the number of its own change.
    for (const after of [seq + 1, seq + 1_000_000_000, Number.MAX_SAFE_INTEGER]) {
      await refuses('changes_pruned', store.changes({ after }));
      await refuses('changes_pruned', Array.fromAsync(store.follow({ after })));
    }
  },

  async 'follow() returns the existing changes, then each new one, until the signal aborts'({ store, by }) {
    const before = await store.lastSeq();
    await store.import(
      Array.from({ length: 700 }, (_, n) => ({ id: BigInt(n), name: 'x' })),
      by,
    );
    const end = new AbortController();
    const seen: number[] = [];
    for await (const changes of store.follow({ after: before, signal: end.signal })) {
      seen.push(...changes.map(({ seq }) => seq));
      if (changes.length > 0 && seen.length === 700) void store.create({ id: 1000n, name: 'y' }, by);
      if (changes.length > 0 && seen.length === 701) void store.delete(1000n, by);
      if (seen.length === 702) end.abort();
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 702 }, (_, n) => before + 1 + n),
    );
  },

  async 'after any writes, the store holds the same plants as a map'({ store, by }) {
    const id = fc.constantFrom(MIN, -1n, 0n, 1n, 2n, MAX);
    const name = fc.constantFrom('Acer', 'acer rubrum', 'Érable', 'Rosa', '', 'ro sa');
    const tag = fc.constantFrom(undefined, '', 'tree', 'Tree');
    const plant = fc.record({ name, tag }, { requiredKeys: ['name'] });
    const step = fc.oneof(
      fc.record({ does: fc.constant('create' as const), id, plant }),
      fc.record({ does: fc.constant('put' as const), id, plant }),
      fc.record({ does: fc.constant('delete' as const), id, plant }),
      fc.record({ does: fc.constant('import' as const), id, plant }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        await clear(store, by);
        const model = new Map<bigint, { name: string; tag: string | undefined }>();
        const writes = steps.map(({ does, id: ofId, plant: { name: newName, tag: newTag } }) => {
          const wanted = newTag === undefined ? { name: newName } : { name: newName, tag: newTag };
          const kept = { name: newName, tag: newTag };
          if (does === 'put' || (does !== 'delete' && !model.has(ofId))) model.set(ofId, kept);
          if (does === 'delete') model.delete(ofId);
          return () => {
            if (does === 'create') return store.create({ id: ofId, ...wanted }, by);
            if (does === 'put') return store.put(ofId, wanted, by);
            if (does === 'delete') return store.delete(ofId, by);
            return store.import([{ id: ofId, ...wanted }], by);
          };
        });
        for (const write of writes)
          await write().catch((error: PlantStoreError) => assert.ok(error.code, String(error.stack)));
        const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        const strip = (records: PlantRecord[]) => records.map((one) => [one.id, { name: one.name, tag: one.tag }]);
        assert.deepEqual(strip(await walk(store, {})), expected);
        for (const q of ['a', 'ac', 'ace', 'r', 'ro', 'sa', 'era', 'rubrum ac', 'érable']) {
          const wanted = expected.filter(([, { name: itsName }]) => hasWords(itsName, queryWords(q)));
          assert.deepEqual(strip(await walk(store, { q })), wanted, `q=${q}`);
        }
        assert.deepEqual(
          strip(await walk(store, { tag: 'tree' })),
          expected.filter(([, { tag: itsTag }]) => itsTag === 'tree'),
        );
      }),
      { numRuns: 20 },
    );
  },
};

/** Number of plants from which a new store takes less time than deleting them one by one. */
const MANY_PLANTS = 1000;

/** Runs all cases on a store that is empty before each case. A case that leaves many plants is followed by a new store. */
export function testStore(
  name: string,
  open: () => Promise<Tested & { close(): Promise<unknown> }>,
  options: { skip?: string } = {},
): void {
  suite(name, options, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());
    for (const [title, run] of Object.entries({ ...STORE_CASES, ...ORDER_CASES, ...MODEL_CASES })) {
      test(title, async () => {
        if ((await opened.store.count()).plants >= MANY_PLANTS) {
          await opened.close();
          opened = await open();
        }
        await clear(opened.store, opened.by);
        await run(opened);
      });
    }
  });
}

export async function clear(store: PlantStore, by: Author): Promise<void> {
  for (let page = await store.list({ limit: 100 }); page.records.length > 0; page = await store.list({ limit: 100 })) {
    await Promise.all(page.records.map(({ id }) => store.delete(id, by)));
  }
}

async function changesAfter(store: Pick<ChangeStore, 'changes'>, after: number): Promise<Change[]> {
  return store.changes({ after, limit: 1000 });
}
