// Compares our JSON parser and printer with references: JSON.parse defines valid JSON, and the digits of the
// text decide the value of an integer.

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
/** Valid JSON with a key that needs an escape. V8 can mistake such a key for another one, so the result is unknown. */
const UNCERTAIN = Symbol('uncertain');
const STRING = /("(?:[^"\\]|\\.)*")(\s*:)?/g;

fault({
  name: 'any JSON',
  mark: 'The parser accepts exactly the texts that JSON.parse accepts, up to 32 levels. It keeps every integer of up to 19 digits exact. Printed JSON reads back as the same value.',
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
          assert.ok(
            read === REFUSED,
            `accepted a text that is not JSON or has over ${MAX_NESTING} levels: ${show(text)}`,
          );
          return;
        }
        counts.accepted++;
        assert.ok(read !== REFUSED, `rejected valid JSON: ${show(text)}`);
        if (expected === UNCERTAIN) return;
        assert.ok(isSame(read, expected), `read as another value: ${show(text)}`);
        if (hasBigInt(expected)) counts['with integers beyond 2^53']++;
        const again = attempt(() => json.parseJson(json.printJson(read)));
        assert.ok(isSame(again, withoutNonFinite(expected)), `printed as another value: ${show(text)}`);
        if (isObject(expected) && json.isExactAnyway(Buffer.from(text)) && !mayHaveEscapedKey(text)) {
          assert.ok(isSame(JSON.parse(text), expected, true), `wrongly reported as exact: ${show(text)}`);
        }
      }),
      { seed, numRuns: rounds, endOnFailure: true, includeErrorInReport: true },
    );
    return Object.entries(counts)
      .map(([what, count]) => `${count.toLocaleString('en')} ${what}`)
      .join(', ');
  },
  controls: {
    'does not limit nesting': {
      change: ['src/lib/exact-json.ts', 'if (isNestedTooDeep(text)) throw', 'if (text === undefined) throw'],
      caught: /accepted a text that is not JSON/,
    },
    'rounds integers beyond 2^53': {
      change: ['src/lib/exact-json.ts', 'MAY_ROUND.test(plain) ? parseExactly(plain) : ', ''],
      caught: /read as another value/,
    },
    'parses keys with escapes as V8 does': {
      change: ['src/lib/exact-json.ts', 'withPlainKeys(text);', 'text;'],
      caught: /read as another value/,
    },
    'prints integers beyond 2^53 rounded': {
      change: ['src/lib/exact-json.ts', 'JSON.rawJSON(value.toString())', 'number'],
      caught: /printed as another value/,
    },
    'treats integers of 16 or more digits as exact': {
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

/** Returns the expected value, REFUSED or UNCERTAIN. */
function judge(text: string): unknown {
  if (attempt(() => JSON.parse(text)) === REFUSED || depthOf(text) > MAX_NESTING) return REFUSED;
  const plain = text.replace(STRING, (all, string, colon) =>
    colon ? JSON.stringify(JSON.parse(string)) + colon : all,
  );
  for (const [, key, colon] of plain.matchAll(STRING)) if (colon && key?.includes('\\')) return UNCERTAIN;
  return JSON.parse(plain, (_key, one, { source }) => (isNumber(one) ? exactly(source ?? '') : one));
}

/** Returns the exact value of a number that JSON.parse accepts. */
function exactly(source: string): number | bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) ?? [];
  const power = Number(exponent || '0') - fraction.length;
  const mantissa = BigInt(`${sign}${whole}${fraction}`);
  const rounded = Number(source);
  if (mantissa === 0n) return 0;
  if (power > 40) return rounded;
  if (-power > source.length) return Number.isInteger(rounded) ? Number.NaN : rounded;
  const divisor = 10n ** BigInt(Math.max(0, -power));
  if (mantissa % divisor !== 0n) return Number.isInteger(rounded) ? Number.NaN : rounded; // the fraction was lost
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

/** True if the values are equal. Minus zero equals zero. `membersOnly` ignores the contents of arrays. */
function isSame(actual: unknown, expected: unknown, membersOnly = false): boolean {
  if (isNumber(actual) && isNumber(expected)) return actual === expected || Object.is(actual, expected);
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return membersOnly || (actual.length === expected.length && actual.every((one, at) => isSame(one, expected[at])));
  }
  if (!isObject(actual) || !isObject(expected)) return isDeepStrictEqual(actual, expected);
  const [keys, others] = [Object.keys(actual), Object.keys(expected)];
  return isDeepStrictEqual(keys, others) && keys.every((key) => isSame(actual[key], expected[key], membersOnly));
}

/** Replaces non-finite numbers with null, as JSON does. */
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
