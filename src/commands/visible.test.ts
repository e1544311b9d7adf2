import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutTo, padTo, visible, widthOf } from './visible.ts';

const SHOWN: [text: string, shown: string, width: number][] = [
  ['Monstera deliciosa', 'Monstera deliciosa', 18],
  ['', '', 0],
  ['a\x1b[31mb', 'a\\x1b[31mb', 10],
  ['\x9b2J\x7f\x07', '\\x9b2J\\x7f\\x07', 14],
  ['a\r\nb\tc', 'a\\r\\nb\\tc', 9],
  ['\u202eevil\u2066', '\\u{202e}evil\\u{2066}', 20],
  ['\u2028\u00ad\ufeff', '\\u{2028}\\xad\\u{feff}', 20],
  ['苗ユリ', '苗ユリ', 6],
  ['ｱｲ Ａ', 'ｱｲ Ａ', 5],
  ['\u1112\u1161\u11ab', '\u1112\u1161\u11ab', 2], // 한 from its parts
  ['e\u0301te\u0301', 'e\u0301te\u0301', 3],
  ['🌱 👨‍👩‍👧 🇯🇵 ❤️', '🌱 👨‍👩‍👧 🇯🇵 ❤️', 11],
  ['می\u200cخواهم', 'می\u200cخواهم', 7],
  ['\u200ca\u200d', '\\u{200c}a\\u{200d}', 17],
];

for (const [text, shown, width] of SHOWN) {
  test(`visible() shows ${JSON.stringify(shown)} in ${width} columns`, () => {
    assert.equal(visible(text), shown);
    assert.equal(widthOf(shown), width);
  });
}

test('cutTo() ends what is too long with a mark, and takes no half of a wide character', () => {
  assert.equal(cutTo(8, 'Monstera'), 'Monstera');
  assert.equal(cutTo(7, 'Monstera'), 'Monste…');
  assert.equal(cutTo(5, '苗ユリ'), '苗ユ…');
  assert.equal(cutTo(4, '苗ユリ'), '苗…');
  assert.equal(cutTo(3, '👨‍👩‍👧👨‍👩‍👧'), '👨‍👩‍👧…');
});

test('whatever the text, nothing without a shape is left, and a cell is exactly as wide as its column', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      const shown = visible(text);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      assert.equal(widthOf(padTo(width, cutTo(width, shown))), width);
    }),
  );
});
