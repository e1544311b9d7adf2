// The format, creation and hashing of token secrets, and the creation of ids.

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'pst_';
/** Prefix of the secrets that sign webhook deliveries. */
export const WEBHOOK_PREFIX = 'whsec_';
const HAS_PREFIX = new RegExp(`${PREFIX}|${WEBHOOK_PREFIX}`, 'i');
const RANDOM_CHARS = 30;
const CHECKSUM_CHARS = 6;
const ID_CHARS = 12;
const JWT = /^[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);

/** Returns a random integer below `max`. */
export type Random = (max: number) => number;

export function mintSecret(random: Random = randomInt): string {
  const body = PREFIX + randomText(RANDOM_CHARS, random);
  return body + checksum(body);
}

export function mintTokenId(random: Random = randomInt): string {
  return mintId('tok', random);
}

/** Returns a short random id, which is not a secret. */
export function mintId(prefix: string, random: Random = randomInt): string {
  return `${prefix}_${randomText(ID_CHARS, random)}`;
}

/** True if the text is a well-formed secret. The checksum detects typos without a database query. */
export function isSecret(text: string): boolean {
  return SECRET.test(text) && checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

/** True if the text may contain a token, a JWT or a webhook secret, and so must not reach a log or a trace. */
export function mayHoldSecret(text: string): boolean {
  return HAS_PREFIX.test(text) || text.split(/[^\w.-]+/).some((word) => JWT.test(word));
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

function randomText(length: number, random: Random): string {
  return Array.from({ length }, () => BASE62[random(BASE62.length)]).join('');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
