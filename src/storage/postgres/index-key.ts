// Words and tags as numbers of 64 bits for the index `words`: the first eight bytes in UTF-8, so that their order is that
// of the words, and what begins with the same letters lies together. Words that share a number are told apart later.

import { hash } from 'node:crypto';

const BYTES = 8;
/** No letter begins with these bytes. */
const MANY_BYTE = 0xfe;
const TAG_BYTE = 0xff;

const buffer = Buffer.alloc(BYTES);

/** Stands for all words of a name that has very many. */
export const MANY = keyOfBytes(Buffer.from([MANY_BYTE]));

export function wordKey(word: string): bigint {
  return keyOfText(word, 0);
}

/** The numbers of all words with this beginning. */
export function keysFrom(begin: string): [first: bigint, last: bigint] {
  return [keyOfText(begin, 0), Buffer.byteLength(begin) < BYTES ? keyOfText(begin, 0xff) : keyOfText(begin, 0)];
}

export function tagKey(tag: string): bigint {
  buffer[0] = TAG_BYTE;
  buffer.write(hash('sha256', tag, 'hex').slice(0, 2 * (BYTES - 1)), 1, 'hex');
  return signed();
}

/** A letter that does not fit as a whole is left out. */
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

/** PostgreSQL has no unsigned integers: the lowest is the most negative. */
function signed(): bigint {
  buffer[0] = (buffer[0] as number) ^ 0x80;
  return buffer.readBigInt64BE();
}
