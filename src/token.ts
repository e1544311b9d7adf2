// Bearer tokens: how a secret looks, what a token may do, and the store that keeps its hash.
// The secret itself is shown once to its owner and kept nowhere.

import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

export const SCOPES = ['plants:read', 'plants:write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Token {
  id: string;
  name: string;
  scopes: Scope[];
  createdMs: number;
  expiresMs: number | null;
  revokedMs: number | null;
}

export interface TokenStore {
  addToken(token: Token, secretHash: string): Promise<void>;
  /** Also gives tokens that are expired or revoked: the caller looks at the clock. */
  findToken(secretHash: string): Promise<Token | undefined>;
  /** Oldest first. */
  listTokens(): Promise<Token[]>;
  /** A token that was revoked before stays as it is. Throws `not_found`. */
  revokeToken(id: string, nowMs: number): Promise<void>;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'pst_';
const RANDOM_CHARS = 30;
const CHECKSUM_CHARS = 6;
const ID_CHARS = 12;
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_CHARS + CHECKSUM_CHARS}}$`);

const MAX_NAME_CHARS = 100;

/** One line that can be shown on a terminal. */
export function isTokenName(text: string): boolean {
  return text.trim() !== '' && text.length <= MAX_NAME_CHARS && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);
}

/** A random integer below `max`. */
export type Random = (max: number) => number;

export function mintSecret(random: Random = randomInt): string {
  const body = PREFIX + randomText(RANDOM_CHARS, random);
  return body + checksum(body);
}

export function mintTokenId(random: Random = randomInt): string {
  return mintId('tok', random);
}

/** A short name for what is no secret. */
export function mintId(prefix: string, random: Random = randomInt): string {
  return `${prefix}_${randomText(ID_CHARS, random)}`;
}

/** Finds a typo without asking the database. */
export function isSecret(text: string): boolean {
  return SECRET.test(text) && checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export function isActive(token: Token, nowMs: number): boolean {
  return token.revokedMs === null && (token.expiresMs === null || nowMs < token.expiresMs);
}

export interface NewToken {
  name: string;
  scopes: Scope[];
  expiresMs: number | null;
}

/** The secret is given back here and never again. */
export async function issueToken(
  store: TokenStore,
  wanted: NewToken,
  nowMs: number,
): Promise<{ token: Token; secret: string }> {
  const secret = mintSecret();
  const token: Token = { id: mintTokenId(), ...wanted, createdMs: nowMs, revokedMs: null };
  await store.addToken(token, hashSecret(secret));
  return { token, secret };
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
