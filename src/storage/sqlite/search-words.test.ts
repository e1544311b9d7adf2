import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPlainName, wordsIn } from './search.ts';
import { createVocabulary } from './search-words.ts';

test('a vocabulary returns every word of every name, for any names in any order', () => {
  const name = fc.string({ unit: fc.constantFrom(...'aabBz09 -_.éß日', '\u{20000}', 'q'.repeat(63)), maxLength: 12 });
  fc.assert(
    fc.property(fc.array(name, { maxLength: 50 }), (names) => {
      const vocabulary = createVocabulary();
      const taken = names.flatMap((each) => {
        assert.equal(vocabulary.note(each) === undefined, isPlainName(each));
        return vocabulary.take();
      });
      assert.deepEqual(new Set(taken), new Set(names.flatMap(wordsIn)));
    }),
  );
});

test('words with the same hash do not hide each other, and known words are not returned again', () => {
  const vocabulary = createVocabulary();
  assert.equal(vocabulary.note('Ab xy ab'), undefined);
  assert.deepEqual(vocabulary.take(), ['ab', 'xy', 'ab'], 'both forms of the word are returned');
  vocabulary.note('Ab');
  assert.deepEqual(vocabulary.take(), []);
  vocabulary.note('aa bB'); // 31 * 97 + 97 = 31 * 98 + 66
  assert.deepEqual(vocabulary.take(), ['aa', 'bb']);
  vocabulary.note('aa');
  assert.deepEqual(vocabulary.take(), ['aa'], 'a word that another one displaced is returned again');
  vocabulary.forget();
  vocabulary.note('aa');
  assert.deepEqual(vocabulary.take(), ['aa']);
});
