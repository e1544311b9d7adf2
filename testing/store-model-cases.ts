// Compares a store with a simple model after random sequences of writes.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change, ChangeLog, ChangeStore } from '../src/domain/change.ts';
import { SORTS } from '../src/domain/names.ts';
import type { Author, NewPlant, Plant, PlantStore } from '../src/domain/plant.ts';
import { inOrder, walk } from './store-walk.ts';

interface Tested {
  store: PlantStore & ChangeLog & Partial<ChangeStore>;
  by: Author;
}

const id = fc.bigInt(0n, 5n);
const plant = fc.record(
  { name: fc.constantFrom('a', 'A', 'Á', 'b', '', 'ß', '植', 'ab cd'), tag: fc.constantFrom('t', 'u', '') },
  { requiredKeys: ['name'] },
);
const write = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), id, plant }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('create' as const), id, plant }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), id }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('import' as const), plants: fc.array(fc.tuple(id, plant)) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'list' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'prune' as const }) },
);
type Write = typeof write extends fc.Arbitrary<infer T> ? T : never;

export const MODEL_CASES: Record<string, (tested: Tested) => Promise<void>> = {
  async 'lists, counts and histories follow any sequence of writes'({ store, by }) {
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 25 }), async (writes) => {
        await Promise.all((await walk(store, {})).map(({ id }) => store.delete(id, by)));
        const model = new Map<bigint, Plant>();
        let prunedTo = 0;
        const from = await store.lastSeq();
        for (const one of writes) {
          await apply(store, model, one, by);
          if (one.kind !== 'prune' || !store.pruneChanges) continue;
          await store.pruneChanges(Number.MAX_SAFE_INTEGER);
          prunedTo = await store.lastSeq();
        }
        await compare(store, model, Math.max(from, prunedTo));
      }),
      { numRuns: 40 },
    );
  },
};

async function apply(store: PlantStore, model: Map<bigint, Plant>, one: Write, by: Author): Promise<void> {
  if (one.kind === 'list') await store.list({ sort: 'name' });
  else if (one.kind === 'put') {
    await store.put(one.id, one.plant, by);
    model.set(one.id, one.plant);
  } else if (one.kind === 'create') {
    await store.create({ id: one.id, ...one.plant }, by).catch(() => assert.ok(model.has(one.id)));
    if (!model.has(one.id)) model.set(one.id, one.plant);
  } else if (one.kind === 'delete') {
    await store.delete(one.id, by).catch(() => assert.ok(!model.has(one.id)));
    model.delete(one.id);
  } else if (one.kind === 'import') {
    await store.import(
      one.plants.map(([id, plant]): NewPlant => ({ id, ...plant })),
      by,
    );
    for (const [id, plant] of one.plants) if (!model.has(id)) model.set(id, plant);
  }
}

async function compare(store: PlantStore & ChangeLog, model: Map<bigint, Plant>, from: number): Promise<void> {
  const all = await walk(store, {});
  const plain = all.map(({ created: _, updated: __, ...plant }) => plant);
  const expected = [...model].map(([id, plant]) => ({ id, ...plant })).sort((a, b) => Number(a.id - b.id));
  assert.deepEqual(plain, expected);
  assert.deepEqual(await store.count(), { plants: model.size, isMore: false });
  const untagged = all.filter(({ tag }) => tag === undefined || tag === 'u');
  for (const sort of SORTS) {
    assert.deepEqual(await walk(store, { sort, limit: 2 }), inOrder(all, sort), sort);
    for (const offset of [1, all.length - 1].filter((one) => one > 0)) {
      assert.deepEqual(
        (await store.list({ sort, offset })).records,
        inOrder(all, sort).slice(offset),
        `${sort} ${offset}`,
      );
    }
    const filter = { tag: 'u', untagged: true };
    assert.deepEqual(await walk(store, { sort, limit: 2, ...filter }), inOrder(untagged, sort), `filtered ${sort}`);
  }
  assert.equal((await store.count({ tag: 'u', untagged: true })).plants, untagged.length);
  const log: Change[] = [];
  for (let after = from; ; after = log.at(-1)?.seq ?? after) {
    const { changes } = await store.changePage({ after, limit: 1000 });
    log.push(...changes);
    if (changes.length === 0) break;
  }
  for (const id of model.keys()) {
    const own = log.filter(({ plant }) => plant.id === id).reverse();
    const creation = own.findIndex(({ type }) => type === 'plant.created');
    assert.deepEqual((await store.history(id)).changes, creation === -1 ? own : own.slice(0, creation + 1));
  }
}
