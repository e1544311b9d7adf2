import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../../testing/code-points.ts';
import { wordsOf } from '../../domain/name-search.ts';
import { keysFrom, MANY, tagKey, wordKey } from './index-key.ts';

const word = fc
  .oneof(fc.string({ unit: codePoints }), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[a-cé植🌵я]{1,12}$/u))
  .map((text) => wordsOf(text)[0] ?? 'a');

test('a word is among the numbers of each of its beginnings', () => {
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

test('numbers are in the order of the first bytes, and fit into 64 bits with a sign', () => {
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

test('what begins alike up to the eighth byte shares a number, and nothing else does among short words', () => {
  assert.equal(wordKey('canadensis'), wordKey('canadense'));
  assert.notEqual(wordKey('canadens'), wordKey('canaden'));
  assert.notEqual(wordKey('mon'), wordKey('monstera'));
});

test('tags and the mark for many words lie outside of what words can be', () => {
  for (const tag of ['', 'a', 'tropical', '植'.repeat(1000)]) {
    assert.ok(tagKey(tag) > MANY);
    assert.equal(tagKey(tag), tagKey(tag));
  }
  assert.notEqual(tagKey('category-1'), tagKey('category-2'));
  fc.assert(fc.property(word, (any) => assert.ok(wordKey(any) < MANY)));
});
