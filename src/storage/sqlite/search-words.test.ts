import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPlainName, wordsIn } from './search.ts';
import { createVocabulary } from './search-words.ts';

test('a vocabulary gives every word of every name, whatever the names and their order', () => {
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

test('a vocabulary gives a word once, in whatever form it was written, until it forgets', () => {
  const vocabulary = createVocabulary();
  assert.equal(vocabulary.note('Ab xy ab'), undefined);
  assert.deepEqual(vocabulary.take(), ['ab', 'xy']);
  vocabulary.note('Ab');
  assert.deepEqual(vocabulary.take(), []);
  assert.deepEqual(vocabulary.note('Ünï ab'), ['uni', 'ab']);
  assert.deepEqual(vocabulary.take(), ['uni']);
  vocabulary.forget();
  vocabulary.note('ab');
  assert.deepEqual(vocabulary.take(), ['ab']);
});
