// Maps words and tags to 64-bit numbers for the index `words`. The number of a word is its first eight bytes in UTF-8.
// So numbers sort like words, and words with the same prefix are adjacent. A later check separates words that share a
// number.

import { hash } from 'node:crypto';

const BYTES = 8;
/** First bytes of special numbers, in hex. With the first bit inverted they are fe and ff, which UTF-8 never uses. */
const MANY_BYTE = '7e';
const TAG_BYTE = '7f';

const buffer = Buffer.alloc(BYTES);
const view = new DataView(buffer.buffer, buffer.byteOffset); // reads bigint faster than the buffer

/** Number that replaces all words of a name with too many words. */
export const MANY = BigInt(`0x${MANY_BYTE}00000000000000`);

/** Number for a plant without a tag. */
export const UNTAGGED = MANY + 1n;

export function wordKey(word: string): bigint {
  return keyOfText(word, 0);
}

/** Returns the range of the numbers of all words with this prefix. */
export function keysFrom(begin: string): [first: bigint, last: bigint] {
  return [keyOfText(begin, 0), Buffer.byteLength(begin) < BYTES ? keyOfText(begin, 0xff) : keyOfText(begin, 0)];
}

export function tagKey(tag: string): bigint {
  return BigInt(`0x${TAG_BYTE}${hash('sha256', tag, 'hex').slice(0, 2 * (BYTES - 1))}`);
}

/**
 * Returns the number of a text. Omits a letter that does not fit completely. The first bit is inverted, so that signed
 * integers have the order of the texts: PostgreSQL has no unsigned integers.
 */
function keyOfText(text: string, padding: number): bigint {
  buffer.fill(padding);
  buffer.write(text, 'utf8');
  buffer[0] = (buffer[0] as number) ^ 0x80;
  return view.getBigInt64(0);
}
