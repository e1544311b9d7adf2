// Characters of all kinds, including U+0000. fast-check takes a second to create its own.

import fc from 'fast-check';

const SURROGATES = 0x800;
const COMPOSED = ['e\u0301', '👩‍🌾', '🇪🇸', 'ﬁ', 'ǆ', 'İ', 'ß', '한', '\u200d', '\ufeff', '\u2028', '\u202e'];

export const codePoints = fc.oneof(
  { weight: 3, arbitrary: fc.nat(0x7f).map((code) => String.fromCodePoint(code)) },
  { weight: 2, arbitrary: fc.nat(0x24f).map((code) => String.fromCodePoint(code)) },
  {
    weight: 3,
    arbitrary: fc
      .nat(0x10ffff - SURROGATES)
      .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + SURROGATES)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...COMPOSED) },
);
