import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { cutToWidth, displayWidth, padToWidth, toSafeJson, toSafeLines, toSafeText } from './safe-text.ts';

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
  ['\u1112\u1161\u11ab', '\u1112\u1161\u11ab', 2], // 한 composed of its parts
  ['e\u0301te\u0301', 'e\u0301te\u0301', 3],
  ['🌱 👨‍👩‍👧 🇯🇵 ❤️', '🌱 👨‍👩‍👧 🇯🇵 ❤️', 11],
  ['می\u200cخواهم', 'می\u200cخواهم', 7],
  ['\u200ca\u200d', '\\u{200c}a\\u{200d}', 17],
];

for (const [text, shown, width] of SHOWN) {
  test(`toSafeText() shows ${JSON.stringify(shown)} in ${width} columns`, () => {
    assert.equal(toSafeText(text), shown);
    assert.equal(displayWidth(shown), width);
  });
}

test('toSafeLines() keeps line feeds and escapes everything else that moves the cursor', () => {
  assert.equal(toSafeLines('Error: \x1b[2J\r\n    at x\u2028'), 'Error: \\x1b[2J\\r\n    at x\\u{2028}');
});

test('toSafeJson() returns JSON of the same value, without DEL, C1 and invisible characters', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: codePoints }), fc.constant('\x7f\x9b\u202e\u2028\u{e0001}é苗🌱')),
      (text) => {
        const json = toSafeJson(JSON.stringify({ text }));
        assert.deepEqual(JSON.parse(json), { text });
        assert.doesNotMatch(json, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      },
    ),
  );
  assert.equal(toSafeJson('{"a":"é苗"}'), '{"a":"é苗"}');
});

test('cutToWidth() ends a cut text with an ellipsis, and does not split wide characters', () => {
  assert.equal(cutToWidth(8, 'Monstera'), 'Monstera');
  assert.equal(cutToWidth(7, 'Monstera'), 'Monste…');
  assert.equal(cutToWidth(5, '苗ユリ'), '苗ユ…');
  assert.equal(cutToWidth(4, '苗ユリ'), '苗…');
  assert.equal(cutToWidth(3, '👨‍👩‍👧👨‍👩‍👧'), '👨‍👩‍👧…');
});

test('For any text, no invisible character remains, and a cell is exactly as wide as its column', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      const shown = toSafeText(text);
      assert.doesNotMatch(shown, /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
      assert.equal(displayWidth(padToWidth(width, cutToWidth(width, shown))), width);
    }),
  );
});
