import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../../testing/code-points.ts';
import { wordsOf } from '../../domain/name-search.ts';
import { keysFrom, MANY, tagKey, wordKey } from './index-key.ts';

const word = fc
  .oneof(fc.string({ unit: codePoints }), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[a-cé植🌵я]{1,12}$/u))
  .map((text) => wordsOf(text)[0] ?? 'a');

test('the number of a word is in the range of each of its prefixes', () => {
  fc.assert(
    fc.property(word, (whole) => {
      const letters = [...whole];
      for (let length = 1; length <= letters.length; length++) {
        const [first, last] = keysFrom(letters.slice(0, length).join(''));
        const key = wordKey(whole);
        assert.ok(first <= key && key <= last, `${whole} from ${letters.slice(0, length).join('')}`);
      }
    }),
    { numRuns: 2000 },
  );
});

test('numbers sort like the first bytes of words, and fit into signed 64-bit integers', () => {
  fc.assert(
    fc.property(word, word, (one, other) => {
      const [a, b] = [wordKey(one), wordKey(other)];
      assert.ok(a >= -(2n ** 63n) && a < 2n ** 63n);
      if (a !== b) {
        const byBytes = Buffer.compare(Buffer.from(one), Buffer.from(other));
        assert.equal(a < b, byBytes < 0, `${one} ${other}`);
      }
    }),
  );
});

test('words share a number only if their first eight bytes are equal', () => {
  assert.equal(wordKey('canadensis'), wordKey('canadense'));
  assert.notEqual(wordKey('canadens'), wordKey('canaden'));
  assert.notEqual(wordKey('mon'), wordKey('monstera'));
});

test('the numbers of tags and of MANY are outside the range of words', () => {
  for (const tag of ['', 'a', 'tropical', '植'.repeat(1000)]) {
    assert.ok(tagKey(tag) > MANY);
    assert.equal(tagKey(tag), tagKey(tag));
  }
  assert.notEqual(tagKey('category-1'), tagKey('category-2'));
  fc.assert(fc.property(word, (any) => assert.ok(wordKey(any) < MANY)));
});
