// Reading and printing JSON, with JSON.parse as the judge of what is JSON, and the digits of the text as the judge of
// what an integer is.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type * as Json from '../../src/lib/exact-json.ts';
import { mayHaveEscapedKey } from '../../src/lib/json-keys.ts';
import { fault } from '../fault.ts';
import { jsonTexts } from '../fuzz/json-texts.ts';

const OWN_KEYS = join(import.meta.dirname, '../fuzz/own-keys.ts');
const MAX_NESTING = 32;
const MAX_INTEGER = 10n ** 19n;
const REFUSED = Symbol('refused');
/** JSON, but V8 can take a key with an escape in it for another one, and that has keys which cannot do without. */
const UNCERTAIN = Symbol('uncertain');
const STRING = /("(?:[^"\\]|\\.)*")(\s*:)?/g;

fault({
  name: 'any JSON',
  mark: 'takes exactly what JSON.parse takes up to 32 levels, every integer up to 19 digits exact, prints back what reads the same',
  rounds: { short: 20_000, full: 1_000_000, of: 'texts' },
  async trial({ rounds, seed, launcher }) {
    const path = join(dirname(launcher), '../src/lib/exact-json.ts');
    const json: typeof Json = await import(path);
    const { status, stderr } = spawnSync(process.execPath, [OWN_KEYS, path], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    const counts = { accepted: 0, refused: 0, 'with integers beyond 2^53': 0 };
    fc.assert(
      fc.property(jsonTexts, (text) => {
        const expected = judge(text);
        const read = attempt(() => json.parseJson(text));
        if (expected === REFUSED) {
          counts.refused++;
          assert.ok(read === REFUSED, `accepted, although it is not JSON or over ${MAX_NESTING} levels: ${show(text)}`);
          return;
        }
        counts.accepted++;
        assert.ok(read !== REFUSED, `refused, although it is JSON: ${show(text)}`);
        if (expected === UNCERTAIN) return;
        assert.ok(isSame(read, expected), `read as another value: ${show(text)}`);
        if (hasBigInt(expected)) counts['with integers beyond 2^53']++;
        const again = attempt(() => json.parseJson(json.printJson(read)));
        assert.ok(isSame(again, withoutNonFinite(expected)), `printed as another value: ${show(text)}`);
        if (isObject(expected) && json.isExactAnyway(Buffer.from(text)) && !mayHaveEscapedKey(text)) {
          assert.ok(isSame(JSON.parse(text), expected, true), `reported as exact, and is not: ${show(text)}`);
        }
      }),
      { seed, numRuns: rounds, endOnFailure: true, includeErrorInReport: true },
    );
    return Object.entries(counts)
      .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
      .join(', ');
  },
  controls: {
    'one that reads any nesting': {
      change: ['src/lib/exact-json.ts', 'if (isNestedTooDeep(text)) throw', 'if (text === undefined) throw'],
      caught: /accepted, although/,
    },
    'one that rounds integers beyond 2^53': {
      change: ['src/lib/exact-json.ts', 'MAY_ROUND.test(plain) ? parseExactly(plain) : ', ''],
      caught: /read as another value/,
    },
    'one that reads keys with escapes as V8 does': {
      change: ['src/lib/exact-json.ts', 'withPlainKeys(text);', 'text;'],
      caught: /read as another value/,
    },
    'one that prints them rounded': {
      change: ['src/lib/exact-json.ts', 'JSON.rawJSON(value.toString())', 'number'],
      caught: /printed as another value/,
    },
    'one that takes a member of 16 digits and more for exact': {
      change: ['src/lib/exact-json.ts', 'if (at - first >= MAY_ROUND_DIGITS) return false;', ''],
      caught: /reported as exact/,
    },
  },
});

/** ECMAScript 2026's source text access, which the compiler's library does not describe yet. */
declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
  }
}

/** What it should be read as, or UNCERTAIN. */
function judge(text: string): unknown {
  if (attempt(() => JSON.parse(text)) === REFUSED || depthOf(text) > MAX_NESTING) return REFUSED;
  const plain = text.replace(STRING, (all, string, colon) =>
    colon ? JSON.stringify(JSON.parse(string)) + colon : all,
  );
  for (const [, key, colon] of plain.matchAll(STRING)) if (colon && key?.includes('\\')) return UNCERTAIN;
  return JSON.parse(plain, (_key, one, { source }) => (isNumber(one) ? exactly(source ?? '') : one));
}

/** Of a number that JSON.parse takes. */
function exactly(source: string): number | bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) ?? [];
  const power = Number(exponent || '0') - fraction.length;
  const mantissa = BigInt(`${sign}${whole}${fraction}`);
  const rounded = Number(source);
  if (mantissa === 0n) return 0;
  if (power > 40) return rounded;
  if (-power > source.length) return Number.isInteger(rounded) ? Number.NaN : rounded;
  const divisor = 10n ** BigInt(Math.max(0, -power));
  if (mantissa % divisor !== 0n) return Number.isInteger(rounded) ? Number.NaN : rounded; // a fraction that was lost
  const integer = power >= 0 ? mantissa * 10n ** BigInt(power) : mantissa / divisor;
  if (integer <= -MAX_INTEGER || integer >= MAX_INTEGER) return rounded;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.replace(STRING, '').matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof SyntaxError) return REFUSED;
    throw error;
  }
}

/** Minus zero is zero. `membersOnly`: what stands in an array counts for nothing. */
function isSame(actual: unknown, expected: unknown, membersOnly = false): boolean {
  if (isNumber(actual) && isNumber(expected)) return actual === expected || Object.is(actual, expected);
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return membersOnly || (actual.length === expected.length && actual.every((one, at) => isSame(one, expected[at])));
  }
  if (!isObject(actual) || !isObject(expected)) return isDeepStrictEqual(actual, expected);
  const [keys, others] = [Object.keys(actual), Object.keys(expected)];
  return isDeepStrictEqual(keys, others) && keys.every((key) => isSame(actual[key], expected[key], membersOnly));
}

/** As JSON can say it. */
function withoutNonFinite(value: unknown): unknown {
  if (isNumber(value)) return Number.isFinite(value) ? value : null;
  if (Array.isArray(value)) return value.map(withoutNonFinite);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutNonFinite(one)]));
}

function hasBigInt(value: unknown): boolean {
  return (
    typeof value === 'bigint' || (typeof value === 'object' && value !== null && Object.values(value).some(hasBigInt))
  );
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function show(text: string): string {
  return JSON.stringify(text);
}
