import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ListQuery, Page, PlantRecord } from 'plant-store/client';
import { createPlantWindows, PAGE_LIMIT } from './plant-window.ts';

const MAX_ROWS = 600;

/** A list like that of the service: ordered by id, starting after a cursor. */
function createList(count: number) {
  const ids = new Set(Array.from({ length: count }, (_, n) => 10n * BigInt(n)));
  return {
    ids,
    sorted: (): bigint[] => [...ids].sort((a, b) => (a < b ? -1 : 1)),
    async list({ cursor, limit = 0 }: ListQuery): Promise<Page> {
      const after = cursor === undefined ? undefined : BigInt(cursor);
      const found = this.sorted().filter((id) => after === undefined || id > after);
      const records = found.slice(0, limit).map((id) => ({ id, name: '', created: '', updated: '' }) as PlantRecord);
      const next = found.length > limit ? String(records.at(-1)?.id) : undefined;
      return { records, ...(next !== undefined && { next }) };
    },
  };
}

const step = fc.oneof(
  fc.constantFrom('more', 'more', 'more', 'back'),
  fc.record({ add: fc.bigInt({ min: -5n, max: 20_005n }) }),
  fc.record({ remove: fc.nat({ max: 2000 }) }),
);

test('the window is a contiguous part of the list after any moves and any changes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 2000 }), fc.array(step, { maxLength: 60 }), async (count, steps) => {
      const source = createList(count);
      const windows = createPlantWindows((query) => source.list(query));
      await windows.begin();
      for (const given of steps) {
        if (given === 'more' || given === 'back') await windows[given]();
        else await change(given);
        requireContiguous(windows.current.parts.flatMap(({ records }) => records.map(({ id }) => id)));
      }

      async function change(given: { add: bigint } | { remove: number }): Promise<void> {
        const id = 'add' in given ? given.add : (source.sorted()[given.remove] ?? 0n);
        if ('add' in given) source.ids.add(id);
        else source.ids.delete(id);
        await windows.refresh([id]);
      }

      function requireContiguous(shown: bigint[]): void {
        assert.ok(shown.length <= MAX_ROWS + PAGE_LIMIT);
        const all = source.sorted();
        const start = shown[0] === undefined ? 0 : all.indexOf(shown[0]);
        assert.deepEqual(shown, all.slice(start, start + shown.length));
        if (windows.current.isEnd) assert.equal(start + shown.length, all.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('the window returns to the start of the list', async () => {
  const source = createList(5000);
  const windows = createPlantWindows((query) => source.list(query));
  await windows.begin();
  while (await windows.more());
  assert.deepEqual([windows.current.count, windows.current.isEnd], [5000, true]);
  source.ids.add(-1n);
  while (await windows.back());
  assert.deepEqual([windows.current.before, windows.current.parts[0]?.records[0]?.id], [0, -1n]);
});
