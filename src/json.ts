// Reads and prints JSON without losing a digit of an integer.
// Knows nothing of plants: what a value means is for the schemas.

const MAX_NESTING = 32;
/** A longer integer cannot be an int64, and stays the number JSON.parse made of it. */
const MAX_INTEGER_DIGITS = 19;
/** Without a fraction, an exponent or 16 digits in a row, a JSON number is a double exactly. */
const MAY_ROUND = /\d[.eE]|\d{16}/;
const MAY_ROUND_DIGITS = 16;

/** ECMAScript 2026's source text access, which the compiler's library does not describe yet. */
declare global {
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): unknown;
  }
}

/** Integers beyond 2^53 come back as bigint, all others as number. Throws SyntaxError. */
export function parseJson(text: string): unknown {
  if (isNestedTooDeep(text)) throw new SyntaxError(`It is nested more than ${MAX_NESTING} levels deep`);
  return MAY_ROUND.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text);
}

/** No member of an object in it is a number that can lose a digit. */
export function isExactAnyway(bytes: Uint8Array): boolean {
  for (let colon = bytes.indexOf(0x3a); colon !== -1; colon = bytes.indexOf(0x3a, colon + 1)) {
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

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

export function printJson(value: unknown): string {
  return JSON.stringify(toPrintable(value)); // half the time of a function that JSON.stringify calls for each member
}

/** Copies only what holds a bigint. */
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

export function isNestedTooDeep(text: string): boolean {
  if (!text.includes('[') && !text.includes('{', 1)) return false; // as nearly everybody sends it
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at);
        if (at === -1) return false; // not JSON at all, as JSON.parse will say
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

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return -1;
}

function keepExact(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== 'number' || context.source === undefined) return value;
  const integer = exactInteger(context.source);
  if (integer === undefined) return Number.isInteger(value) ? Number.NaN : value; // a fraction that a double rounds away
  if (integer === 'too long') return value;
  return Number.isSafeInteger(Number(integer)) ? Number(integer) : integer;
}

/** The integer that a JSON number stands for (`1.50e1` is 15), or undefined if it has a fraction. */
function exactInteger(source: string): bigint | 'too long' | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  if (digits === '') return 0n;
  const significant = withoutTrailingZeros(digits);
  const shift = Number(exponent) - fraction.length + digits.length - significant.length;
  if (shift < 0) return undefined;
  if (significant.length + shift > MAX_INTEGER_DIGITS) return 'too long';
  return BigInt(sign + significant + '0'.repeat(shift));
}

/** By hand: /0+$/ takes quadratic time on 60,000 digits with zeros between them. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return digits.slice(0, end);
}
