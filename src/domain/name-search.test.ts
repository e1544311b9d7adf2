import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { cutText, hasWords, MAX_QUERY_CHARS, MAX_QUERY_WORDS, nameKey, queryWords, wordsOf } from './name-search.ts';

const NAME_BYTES = 64 * 1024;
/** CPU time far above the cost of any name, and far below that of a name whose cost is quadratic. */
const MAX_CPU_MS = 250;

const piece = fc.oneof(
  fc.constantFrom(...'aAbBzZ09 -_.', 'ab', 'é', 'e\u0301', 'ß', 'İ', 'ı', 'ς', 'Σ', 'ø', 'Ł', 'ﬁ', 'ǅ', '２', '한'),
  fc.constantFrom(
    'か\u3099',
    'ｶﾞ',
    '\u0345',
    '\u034f',
    '\ufe0f',
    '\u05b1',
    '\u05b0',
    '\u0f73',
    '\ufdfa',
    '\u1ff7',
    '\u0e33',
  ),
  fc.string({ unit: codePoints, maxLength: 3 }),
);
const text = fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join(''));

/** The definition of folding: every step in its simplest form, without limits or shortcuts. */
function foldSimply(name: string): string {
  const plain: Record<string, string> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i', ς: 'σ' };
  const withoutAccents = (folded: string) =>
    folded
      .normalize('NFKD')
      .replace(/[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]/g, '');
  return withoutAccents(withoutAccents(name).toUpperCase().toLowerCase())
    .replace(/[øłđħŧıς]/g, (letter) => plain[letter] ?? letter)
    .normalize('NFC');
}

test('a text without long runs of marks folds as in the definition', () => {
  fc.assert(
    fc.property(text, (name) => {
      assert.deepEqual(wordsOf(name), foldSimply(name).match(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu) ?? []);
    }),
    { numRuns: 2000 },
  );
});

test('a name matches a query exactly if each query word is the beginning of a word in the name', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'aab é'), maxLength: 40 });
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom(...'aab é'), maxLength: 12 }), (name, query) => {
      const words = wordsOf(name);
      const expected = wordsOf(query).every((begin) => words.some((word) => word.startsWith(begin)));
      assert.equal(hasWords(name, queryWords(query)), expected);
    }),
    { numRuns: 5000 },
  );
});

test('a query above a limit is rejected, and its length is checked before it is folded', () => {
  const refused = { code: 'bad_parameter', message: /^"q" must have at most 1000 characters and 64 words/ };
  assert.equal(queryWords('a'.repeat(MAX_QUERY_CHARS)).length, 1);
  assert.throws(() => queryWords('a'.repeat(MAX_QUERY_CHARS + 1)), refused);
  assert.throws(() => queryWords(' '.repeat(MAX_QUERY_CHARS + 1)), refused);
  const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}x`).join(' ');
  assert.equal(queryWords(words(MAX_QUERY_WORDS)).length, MAX_QUERY_WORDS);
  assert.throws(() => queryWords(words(MAX_QUERY_WORDS + 1)), refused);
  assert.throws(() => queryWords('\ufdfa'.repeat(MAX_QUERY_WORDS)), refused, 'it has four words');
});

test('a letter with more marks than any language uses is found by its first marks', () => {
  const many = '\u05b1\u05b0'.repeat(100);
  assert.deepEqual(wordsOf(`a${many}b`), wordsOf(`a${many.slice(0, 30)}b`));
  assert.deepEqual(wordsOf(`a${'\u0301\u0316'.repeat(100)}b`), ['ab']);
});

test('the cost of a name is proportional to its length for any content', () => {
  const units = {
    'many words': 'a ',
    'a sign that becomes 18': '\ufdfa',
    'accents out of order': '\u0301\u0316',
    'points out of order': '\u05b1\u05b0',
    'marks that become several': '\u0f73',
    'letters that become marks': '\uff9e\u0334',
    'marks behind unassigned ones': `${'\u05b1\u05b0'.repeat(15)}\u1aff`,
    'marks beyond 16 bits': '\u{1d167}\u{1d165}',
  };
  const wanted = queryWords(Array.from({ length: MAX_QUERY_WORDS }, (_, n) => `a${n}`).join(' '));
  for (const [what, unit] of Object.entries(units)) {
    const name = `a${unit.repeat(NAME_BYTES / Buffer.byteLength(unit))}`;
    const before = process.threadCpuUsage(); // a busy machine takes more time, but not more CPU time
    hasWords(name, wanted);
    const cpuMs = process.threadCpuUsage(before).user / 1000;
    assert.ok(cpuMs < MAX_CPU_MS, `${what}: ${cpuMs.toFixed(0)} ms`);
  }
});

test('a text is truncated between characters', () => {
  assert.equal(cutText('ab', 2), 'ab');
  assert.equal(cutText('abc', 2), 'ab');
  assert.equal(cutText('a🌵', 2), 'a');
});

test('nameKey() folds only the beginning of a name, and cuts no character', () => {
  for (const piece of ['x', 'É', 'e\u0301\u0302', 'ß', '\ufdfa', '한', '\u{1f335}']) {
    const [short, long] = [piece.repeat(600), piece.repeat(20_000)].map(nameKey) as [string, string];
    assert.equal(long, short, piece);
    assert.equal([...long].length, 500);
    assert.ok(long.isWellFormed());
  }
});
