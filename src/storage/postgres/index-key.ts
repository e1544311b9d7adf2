// Maps words and tags to 64-bit numbers for the index `words`. The number of a word is its first eight bytes in UTF-8.
// So numbers sort like words, and words with the same prefix are adjacent. A later check separates words that share a
// number.

import { hash } from 'node:crypto';

const BYTES = 8;
/** First bytes of special numbers. No letter starts with these bytes in UTF-8. */
const MANY_BYTE = 0xfe;
const TAG_BYTE = 0xff;

const buffer = Buffer.alloc(BYTES);

/** Number that replaces all words of a name with too many words. */
export const MANY = keyOfBytes(Buffer.from([MANY_BYTE]));

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
  buffer[0] = TAG_BYTE;
  buffer.write(hash('sha256', tag, 'hex').slice(0, 2 * (BYTES - 1)), 1, 'hex');
  return signed();
}

/** Returns the number of a text. Omits a letter that does not fit completely. */
function keyOfText(text: string, padding: number): bigint {
  buffer.fill(padding);
  buffer.write(text, 'utf8');
  return signed();
}

function keyOfBytes(bytes: Uint8Array): bigint {
  buffer.fill(0);
  buffer.set(bytes);
  return signed();
}

/** Returns the buffer as a signed integer in the same order, because PostgreSQL has no unsigned integers. */
function signed(): bigint {
  buffer[0] = (buffer[0] as number) ^ 0x80;
  return buffer.readBigInt64BE();
}
