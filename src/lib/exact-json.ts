// Reads and prints JSON with exact integers. It contains nothing about plants: the schemas interpret the values.

import { endOfString, isBlank, withPlainKeys } from './json-keys.ts';

export const MAX_NESTING = 32;
/** Maximum number of digits of an int64. A longer integer remains the number that JSON.parse returns. */
const MAX_INTEGER_DIGITS = 19;
/** Matches numbers that a double may round: with a fraction, an exponent or 16 digits in a row. */
const MAY_ROUND = /\d(?:[.eE]|\d{15})/;
const MAY_ROUND_DIGITS = 16;
/** Number of digits up to which different numbers are different doubles. */
const EXACT_DIGITS = 15;
const NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/**
 * Added to an index in the list of extracted numbers, it gives a unique placeholder: all other numbers are integers.
 */
const ASIDE = 0.5;

/** Part of ECMAScript 2026, which the compiler's library does not declare yet. */
declare global {
  interface JSON {
    rawJSON(text: string): unknown;
  }
}

/** Parses JSON. Integers beyond 2^53 become bigints, all other numbers remain numbers. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (isNestedTooDeep(text)) throw new SyntaxError(`Nested more than ${MAX_NESTING} levels deep`);
  const plain = withPlainKeys(text);
  try {
    return MAY_ROUND.test(plain) ? parseExactly(plain) : JSON.parse(plain);
  } catch {
    return JSON.parse(text); // throws with the position in the original text
  }
}

/** Extracts numbers that may lose a digit, and restores them later. A reviver takes 50 ms for 64 KiB of numbers. */
function parseExactly(text: string): unknown {
  const aside: unknown[] = [];
  const rest = putAside(text, aside);
  return putBack(JSON.parse(rest), aside);
}

function putAside(text: string, aside: unknown[]): string {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) break; // not JSON, so JSON.parse throws
    } else if (isDigit(code) || code === 0x2d) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      const source = text.slice(start, at + 1);
      if (!MAY_ROUND.test(source)) continue;
      if (!NUMBER.test(source)) break; // not JSON, so JSON.parse throws
      pieces.push(text.slice(copied, start), String(aside.length + ASIDE));
      copied = at + 1;
      aside.push(toExact(source));
    }
  }
  return pieces.join('') + text.slice(copied);
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === 0x2d || code === 0x2b || code === 0x2e || code === 0x65 || code === 0x45; // - + . e E
}

function putBack(value: unknown, aside: unknown[]): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value : aside[value - ASIDE];
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, unknown>;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(members)) {
    const member = members[key];
    if (typeof member === 'object' || typeof member === 'number') members[key] = putBack(member, aside);
  }
  return value;
}

/** True if no field of an object is a number that can lose a digit. */
export function isExactAnyway(bytes: Uint8Array): boolean {
  for (let colon = 0; colon < bytes.length; colon++) {
    if (bytes[colon] !== 0x3a) continue;
    let at = colon + 1;
    while (isBlank(bytes[at])) at++;
    if (bytes[at] === 0x2d) at++; // -
    const first = at;
    while (isDigit(bytes[at])) at++;
    if (at - first >= MAY_ROUND_DIGITS) return false;
    if (at > first && (bytes[at] === 0x2e || bytes[at] === 0x65 || bytes[at] === 0x45)) return false; // . e E
  }
  return true;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/** Returns the value as JSON, with bigints as exact numbers. */
export function printJson(value: unknown): string {
  return JSON.stringify(toPrintable(value)); // takes half the time of a replacer function
}

/** Replaces bigints by printable values. Copies only objects that contain a bigint. */
function toPrintable(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : JSON.rawJSON(value.toString());
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toPrintable);
  const members = value as Record<string, unknown>;
  let copy = members;
  for (const key of Object.keys(members)) {
    const printable = toPrintable(members[key]);
    if (printable === members[key]) continue;
    if (copy === members) copy = { ...members };
    copy[key] = printable;
  }
  return copy;
}

/** True if the JSON is nested more than 32 levels deep. */
export function isNestedTooDeep(text: string): boolean {
  if (!text.includes('[') && !text.includes('{', 1)) return false; // the usual case
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        if (at === -1) return false; // not JSON, so JSON.parse throws
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > MAX_NESTING) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
    }
  }
  return false;
}

/** True if arrays and objects together have more than `max` values. */
export function hasMoreValues(text: string, max: number): boolean {
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      at = endOfString(text, at);
      if (at === -1) return false; // not JSON, so JSON.parse throws
    } else if ((code === 0x2c || code === 0x5b || code === 0x7b) && ++values > max) return true; // , [ {
  }
  return false;
}

function toExact(source: string): number | bigint {
  const value = Number(source);
  if (source.length <= EXACT_DIGITS && value !== 0 && Math.abs(value) < 10 ** EXACT_DIGITS) return value;
  const integer = exactInteger(source);
  if (integer === undefined) return Number.isInteger(value) ? Number.NaN : value; // the double has lost the fraction
  if (integer === 'too long') return value;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** Returns the integer value of a JSON number (`1.50e1` is 15), or undefined if it has a fraction. */
function exactInteger(source: string): bigint | 'too long' | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const significant = withoutTrailingZeros(digits);
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  if (shift < 0) return undefined;
  if (significant.length + shift > MAX_INTEGER_DIGITS) return 'too long';
  return BigInt(sign + significant + '0'.repeat(shift));
}

/** Removes trailing zeros in a loop, because /0+$/ takes quadratic time on 60,000 digits with zeros among them. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}
