// Texts that are JSON or nearly JSON: all spellings of numbers, escapes, duplicate keys, deep nesting, and variants
// with characters removed, duplicated, changed or inserted.

import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';

const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 21 });
const wholes = fc.oneof(
  fc.constantFrom('0', '1', '9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807'),
  fc.constantFrom('9223372036854775808', '18446744073709551616', '9999999999999999999', '10000000000000000000'),
  fc.nat().map(String),
  fc.bigInt({ min: 0n, max: 2n ** 65n }).map(String),
  digits.map((text) => text.replace(/^0+(?=\d)/, '')),
);
const exponents = fc
  .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.constantFrom('0', '1', '2', '02', '17', '400'))
  .map((parts) => parts.join(''));

/** Numbers, including invalid ones. */
const numberTexts = fc.oneof(
  { weight: 20, arbitrary: fc.tuple(fc.constantFrom('', '-'), wholes).map((parts) => parts.join('')) },
  {
    weight: 20,
    arbitrary: fc
      .tuple(
        fc.constantFrom('', '-'),
        wholes,
        fc.oneof(
          fc.constant(''),
          digits.map((text) => `.${text}`),
        ),
        fc.oneof(fc.constant(''), exponents),
      )
      .map((parts) => parts.join('')),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('-', '+1', '01', '-01', '1.', '.5', '1e', '1e+', '0x1', 'NaN', '1_0', '--1'),
  },
);

const stringTexts = fc.oneof(
  { weight: 12, arbitrary: fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)) },
  { weight: 8, arbitrary: fc.string({ unit: codePoints, maxLength: 4 }).map((text) => JSON.stringify(text)) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.constantFrom('\\"', '\\\\', '\\/', '\\b', '\\u0041', '\\uD800', '\\ud83c\\udf35', '[', '{', '}', '1.5'),
        {
          maxLength: 4,
        },
      )
      .map((parts) => `"${parts.join('')}"`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"', '"\\"', '"\n"', '"\t"', '"\\x"', '"\\u12"', "'a'", '"\u2028"', '"\ud800"'),
  },
);
const keyTexts = fc.oneof(
  fc.constantFrom('"id"', '"a"', '"a"', '"__proto__"', '"constructor"', '"toString"', '""', '"1"', '"\\u0061"'),
  stringTexts,
);
const blanks = fc.oneof(
  { weight: 30, arbitrary: fc.constant('') },
  { weight: 10, arbitrary: fc.constantFrom(' ', '\n', '\r\n', '\t') },
  { weight: 1, arbitrary: fc.constantFrom('\v', '\f', '\u00a0', '\u2028', '\ufeff', '\0') },
);
const leafTexts = fc.oneof(
  { weight: 16, arbitrary: numberTexts },
  { weight: 8, arbitrary: stringTexts },
  { weight: 4, arbitrary: fc.constantFrom('true', 'false', 'null', '[]', '{}') },
  { weight: 1, arbitrary: fc.constantFrom('', 'True', 'undefined') },
);

const { value: valueTexts } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leafTexts, tie('array'), tie('object')),
  array: fc.tuple(fc.array(tie('value'), { maxLength: 4 }), blanks).map(([items, blank]) => {
    return `[${blank}${items.join(`,${blank}`)}]`;
  }),
  object: fc.tuple(fc.array(fc.tuple(keyTexts, tie('value')), { maxLength: 4 }), blanks).map(([members, blank]) => {
    return `{${members.map(([key, value]) => `${key}:${blank}${value}${blank}`).join(',')}}`;
  }),
}));

const nestedTexts = fc
  .tuple(fc.integer({ min: 29, max: 35 }), fc.constantFrom('[', '{"a":', '{"]":[],"[":'), leafTexts)
  .map(([depth, open, leaf]) => `${open.repeat(depth)}${leaf}${(open === '[' ? ']' : '}').repeat(depth)}`);

const piece = fc.constantFrom(...'{}[]",:\\0129.eE-+ntu \ufeff\0', '"a":', '"__proto__":', ',1', '9007199254740993');
const edit = fc.record({ at: fc.nat(), lose: fc.nat(2), put: fc.oneof(fc.constant(''), piece) });

/** Replaces some characters at each position with others. */
function mutate(text: string, edits: { at: number; lose: number; put: string }[]): string {
  let mutated = text;
  for (const { at, lose, put } of edits) {
    const start = at % (mutated.length + 1);
    mutated = mutated.slice(0, start) + put + mutated.slice(start + lose);
  }
  return mutated;
}

const wellMeant = fc.oneof(
  { weight: 4, arbitrary: valueTexts },
  { weight: 2, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: nestedTexts },
  { weight: 1, arbitrary: fc.tuple(blanks, valueTexts, blanks).map((parts) => parts.join('')) },
);

export const jsonTexts = fc.oneof(
  { weight: 5, arbitrary: wellMeant },
  {
    weight: 4,
    arbitrary: fc
      .tuple(wellMeant, fc.array(edit, { minLength: 1, maxLength: 3 }))
      .map(([text, edits]) => mutate(text, edits)),
  },
  { weight: 1, arbitrary: fc.string({ unit: piece, maxLength: 20 }) },
);
