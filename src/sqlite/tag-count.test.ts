import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareTags } from '../summary.ts';
import { createTagCounts } from './tag-count.ts';

test('tags are counted in as many rounds as it takes, and each is counted whole', () => {
  const tag = fc.oneof(fc.nat(400).map(String), fc.string({ maxLength: 3, unit: 'grapheme' }));
  const bounds = fc.constantFrom([1, 1000], [7, 1000], [100, 30], [1000, 100_000]) as fc.Arbitrary<[number, number]>;
  fc.assert(
    fc.property(fc.array(tag, { maxLength: 600 }), bounds, (tags, [maxCounted, maxChars]) => {
      const counts = createTagCounts(maxCounted, maxChars);
      do {
        for (const each of tags) counts.add(each);
      } while (counts.next());
      const expected = Map.groupBy(tags, (each) => each);
      assert.deepEqual(
        counts.top(),
        [...expected]
          .map(([each, { length: plants }]) => ({ tag: each, plants }))
          .sort(compareTags)
          .slice(0, 100),
      );
    }),
    { numRuns: 50 },
  );
});

test('tags that as many plants have come in the order of their code points', () => {
  const tags = ['', 'B', 'a', 'ab', 'é', '\ufeff', '\uffff', '🌵', '🌵a', '🌶'].map((tag) => ({ tag, plants: 1 }));
  assert.deepEqual(tags.toReversed().sort(compareTags), tags);
});
