import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson, printJson } from './json.ts';

const NUMBERS: [text: string, value: number | bigint][] = [
  ['0', 0],
  ['-0', 0],
  ['1.0', 1],
  ['1e3', 1000],
  ['1.50e1', 15],
  ['10e-1', 1],
  ['0e400', 0],
  ['0.000e-7', 0],
  ['1.5', 1.5],
  ['-0.25', -0.25],
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993.0', -9007199254740993n],
  ['9223372036854775807', 9223372036854775807n],
  ['-9223372036854775808', -9223372036854775808n],
  ['9.223372036854775807e18', 9223372036854775807n],
  ['9223372036854775808', 9223372036854775808n],
  ['1e400', Number.POSITIVE_INFINITY],
  ['1e30', 1e30],
  ['1e-400', Number.NaN],
  ['1.00000000000000000001', Number.NaN],
  ['9007199254740993.5', Number.NaN],
];

for (const [text, value] of NUMBERS) {
  test(`parseJson() reads ${text} as ${typeof value} ${value}`, () => {
    const [parsed] = parseJson(`[${text}]`) as unknown[];
    if (value === 0) assert.ok(parsed === 0);
    else assert.deepEqual(parsed, value);
  });
}

test('parseJson() takes the last of two members', () => {
  assert.deepEqual(parseJson('{"id":9007199254740993,"id":9007199254740995}'), { id: 9007199254740995n });
});

test('parseJson() allows 32 levels and refuses 33, wherever brackets stand in strings', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}"]]\\"[[[\\\\"${']'.repeat(depth)}`;
  parseJson(nested(32));
  assert.throws(() => parseJson(nested(33)), SyntaxError);
  assert.throws(() => parseJson(`{"a":${nested(32)},"a":1}`), SyntaxError);
  parseJson(`["${'['.repeat(100)}"]`);
});

test('parseJson() is quick with what is made to be slow', () => {
  const digits = '10'.repeat(30_000);
  const startMs = performance.now();
  parseJson(`[${digits}1]`);
  parseJson(`[0.${digits}1e5]`);
  parseJson(`[1.${'0'.repeat(60_000)}]`);
  parseJson(`["${'\\\\'.repeat(30_000)}"]`);
  assert.throws(() => parseJson('['.repeat(100_000)), SyntaxError);
  assert.throws(() => parseJson('"\\'.repeat(30_000)), SyntaxError);
  assert.ok(performance.now() - startMs < 500);
});

test('parseJson() gives what JSON.parse gives for every JSON text without large integers', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      const expected = JSON.parse(text, (_key, value) => (Object.is(value, -0) ? 0 : value));
      assert.deepEqual(JSON.parse(printJson(parseJson(text))), expected);
    }),
    { numRuns: 2000 },
  );
});

test('parseJson() refuses what JSON.parse refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\0129.eE-+ntu ') }), (text) => {
      let expected = true;
      try {
        JSON.parse(text);
      } catch {
        expected = false;
      }
      if (expected) parseJson(text);
      else assert.throws(() => parseJson(text), SyntaxError);
    }),
    { numRuns: 5000 },
  );
});

test('printJson() and parseJson() keep every digit of every int64', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (id) => {
      const printed = printJson({ id });
      assert.equal(printed, `{"id":${id}}`);
      assert.equal(BigInt((parseJson(printed) as { id: number | bigint }).id), id);
    }),
  );
});
