// Tests single cases. torture/faults/json-fuzz.test.ts tests arbitrary text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, printJson } from './exact-json.ts';

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
  ['1e14', 1e14],
  ['1e15', 1e15],
  ['1.5e-300', 1.5e-300],
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

test('parseJson() uses the last of two fields with the same name', () => {
  assert.deepEqual(parseJson('{"id":9007199254740993,"id":9007199254740995}'), { id: 9007199254740995n });
});

test('parseJson() restores every number at its original place', () => {
  const text = '{"b":[1.5,2,{"__proto__":0.5,"1":9007199254740993}],"a":0.5,"0":1e2,"c":"1.5 \\" 2.5","d":3}';
  const exact = JSON.stringify(parseJson(text), (_key, value) => (typeof value === 'bigint' ? `${value}n` : value));
  assert.equal(
    exact,
    '{"0":100,"b":[1.5,2,{"1":"9007199254740993n","__proto__":0.5}],"a":0.5,"c":"1.5 \\" 2.5","d":3}',
  );
});

test('parseJson() reports the position of an error in the original text', () => {
  assert.throws(() => parseJson('{"a":1.5000,"b":--1.5}'), /position 17/);
});

test('parseJson() accepts 32 levels and rejects 33, and ignores brackets in strings', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}"]]\\"[[[\\\\"${']'.repeat(depth)}`;
  parseJson(nested(32));
  assert.throws(() => parseJson(nested(33)), SyntaxError);
  assert.throws(() => parseJson(`{"a":${nested(32)},"a":1}`), SyntaxError);
  parseJson(`["${'['.repeat(100)}"]`);
});

test('parseJson() is fast on input that is designed to be slow', () => {
  const digits = '10'.repeat(30_000);
  const before = process.threadCpuUsage(); // CPU time, which does not grow on a busy machine
  parseJson(`[${digits}1]`);
  parseJson(`[0.${digits}1e5]`);
  parseJson(`[1.${'0'.repeat(60_000)}]`);
  parseJson(`["${'\\\\'.repeat(30_000)}"]`);
  assert.throws(() => parseJson(`{"${'\\"'.repeat(30_000)}`), SyntaxError);
  assert.throws(() => parseJson(`{${'"\\": '.repeat(15_000)}`), SyntaxError);
  parseJson(`{${'"\\n": 1,'.repeat(10_000)}"a":1}`);
  for (const many of ['1e1,', '1.5,', '{},', '9007199254740993,'])
    parseJson(`[1.5,${many.repeat(65_536 / many.length)}1]`);
  assert.throws(() => parseJson('['.repeat(100_000)), SyntaxError);
  assert.throws(() => parseJson('"\\'.repeat(30_000)), SyntaxError);
  assert.ok(process.threadCpuUsage(before).user < 1500 * 1000);
});

const REFUSED = [
  '',
  ' ',
  '\ufeff1',
  '01',
  '1.',
  '.5',
  '+1',
  '1e',
  '"\n"',
  '"\\x"',
  "'a'",
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  '1 2',
  '\v1',
];

for (const text of REFUSED) {
  test(`parseJson() rejects ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseJson(text), SyntaxError);
    assert.throws(() => JSON.parse(text), SyntaxError);
  });
}

test('parseJson() and printJson() treat __proto__ like any other field', () => {
  const text = '{"__proto__":{"id":9007199254740993},"constructor":9007199254740995}';
  assert.equal(printJson(parseJson(text)), text);
  assert.equal(({} as { id?: unknown }).id, undefined);
});

test('parseJson() reads a key with escapes correctly, regardless of keys read before', () => {
  parseJson('{"id":1,"\\\\u00":2}');
  parseJson('{"id":1,"name":"x","\\\\u0":2}');
  assert.deepEqual(parseJson('{"id":1,"\\u006eame":"x"}'), { id: 1, name: 'x' });
  assert.deepEqual(parseJson('{"id":1,"name":"x","\\u0074ag" :"t\\":"}'), { id: 1, name: 'x', tag: 't":' });
  assert.deepEqual(parseJson('{"a\\"b":":","\\\\":"\\\\"}'), { 'a"b': ':', '\\': '\\' });
});

test('printJson() and parseJson() keep every digit at the limits of int64', () => {
  for (const id of [-(2n ** 63n), -(2n ** 53n) - 1n, -(2n ** 53n), 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]) {
    const printed = printJson({ id });
    assert.equal(printed, `{"id":${id}}`);
    assert.equal(BigInt((parseJson(printed) as { id: number | bigint }).id), id);
  }
});

test('parseJson() reports the position of an error in the original text', () => {
  for (const text of ['{"\\u0069d":1, oops}', '{"id":1.5, oops}']) {
    assert.throws(() => parseJson(text), { message: new RegExp(`position ${text.indexOf('oops')}`) }, text);
  }
});
