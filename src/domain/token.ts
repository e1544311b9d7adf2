// Bearer tokens: what a token may do, and the store that keeps the hash of its secret.
// The secret itself is shown once to its owner and kept nowhere.

import { z } from 'zod';
import { parseDuration } from '../lib/duration.ts';
import { toIsoTime } from '../lib/iso-time.ts';
import { parseRate, printRate, RATE_FORM, type Rate } from '../lib/token-bucket.ts';
import { PlantStoreError } from './errors.ts';
import { SCOPES, type Scope } from './names.ts';
import { isTime, Time } from './time.ts';
import { hashSecret, mintSecret, mintTokenId } from './token-secret.ts';
import { strictObjectError } from './validate.ts';

export interface Token {
  id: string;
  name: string;
  scopes: Scope[];
  createdMs: number;
  expiresMs: number | null;
  revokedMs: number | null;
  /** So many requests at most. */
  rate: Rate | null;
  /** To the minute. */
  lastUsedMs: number | null;
  /** Until then a secret that was replaced is still taken. */
  oldSecretUntilMs: number | null;
}

export interface TokenStore {
  addToken(token: Token, secretHash: string): Promise<void>;
  /** Also returns expired and revoked tokens. Found by a replaced secret, the token expires with that secret. */
  findToken(secretHash: string): Promise<Token | undefined>;
  /** Throws `not_found`. */
  getToken(id: string): Promise<Token>;
  /** Oldest first. */
  listTokens(): Promise<Token[]>;
  /** Throws `not_found`, and `last_admin` if no other active token has that scope, unless `evenLastAdmin`. */
  revokeToken(id: string, nowMs: number, evenLastAdmin?: boolean): Promise<void>;
  /** All secrets that it had are taken until then at most. Throws `not_found` where it is not active. */
  rotateToken(id: string, secretHash: string, nowMs: number, oldUntilMs: number): Promise<Token>;
  noteUse(ids: string[], timeMs: number): Promise<void>;
}

export const MAX_NAME_CHARS = 100;
export const NAME_FORM = '1 to 100 characters, without control characters';

/** One line that can be shown on a terminal. */
export function isTokenName(text: string): boolean {
  return text.trim() !== '' && [...text].length <= MAX_NAME_CHARS && isOneLine(text);
}

const UNSHOWN = '\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}';
/** The same for every engine of regular expressions; the few beyond U+FFFF, which engines write in different ways, are left out. */
const UNSHOWN_PORTABLY =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const OF_MANY_LINES = new RegExp(`[${UNSHOWN}]`, 'u');

export function isOneLine(text: string): boolean {
  return !OF_MANY_LINES.test(text);
}

/** Who does not say what a token is for gets one for plants. */
export const DEFAULT_SCOPES: Scope[] = ['plants:read', 'plants:write'];
/** A secret that was replaced is taken for so long, unless somebody wants it otherwise. */
export const DEFAULT_GRACE_MS = 24 * 3_600_000;

const EXPIRES_FORM = 'a time such as 2030-01-01T00:00:00Z, or a span such as 90d';
/** Of the form alone: the day has to be one that there is, in the future. */
const EXPIRES_PATTERN =
  '^([1-9][0-9]{0,8}[smhdw]|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$';
const ScopeName = z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` });
const RateText = z
  .string({ error: `must be ${RATE_FORM}` })
  .refine((text) => parseRate(text) !== undefined, { error: `must be ${RATE_FORM}` })
  .meta({
    description: 'So many requests at most: in a second, minute or hour',
    pattern: '^([1-9][0-9]{0,5}|1000000)/[smh]$',
  });

/** As a client asks for it. */
export const WantedToken = z
  .strictObject(
    {
      name: z
        .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
        .refine(isTokenName, { error: `must have ${NAME_FORM}` })
        .meta({
          description: 'Who will use it',
          minLength: 1,
          maxLength: MAX_NAME_CHARS,
          pattern: `^[^${UNSHOWN_PORTABLY}]*[^\\s${UNSHOWN_PORTABLY}][^${UNSHOWN_PORTABLY}]*$`,
        }),
      scopes: z
        .array(ScopeName, { error: 'must be an array' })
        .min(1, { error: 'must name one scope at least' })
        .optional()
        .meta({ description: 'What it may do; none that the token which asks lacks', default: DEFAULT_SCOPES }),
      expires: z
        .string({ error: `must be ${EXPIRES_FORM}` })
        .refine((text) => isTime(text) || parseDuration(text) !== undefined, { error: `must be ${EXPIRES_FORM}` })
        .optional()
        .meta({
          description: 'When, by RFC 3339, or after how long, 100 years at most: `90d`. Never, if it is left out',
          pattern: EXPIRES_PATTERN,
        }),
      rate: RateText.optional(),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'NewToken' });
export type WantedToken = z.input<typeof WantedToken>;

const DESCRIBED = {
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  created: Time,
  expires: Time.optional(),
  rate: RateText.optional(),
  lastUsed: Time.optional().meta({ description: 'To the minute' }),
  rotating: Time.optional().meta({ description: 'While a secret is replaced: until then the old one is taken, too' }),
  status: z.enum(['active', 'expired', 'revoked']),
};

/** As it is shown: neither the secret nor its hash is in it. */
export const DescribedToken = z.object(DESCRIBED).meta({ id: 'Token' });
export type DescribedToken = z.output<typeof DescribedToken>;

export const TokenWithSecret = z
  .object({ ...DESCRIBED, secret: z.string().meta({ description: 'What a client sends. Shown only now' }) })
  .meta({ id: 'TokenWithSecret' });
export type TokenWithSecret = z.output<typeof TokenWithSecret>;

export function describeToken(token: Token, nowMs: number): DescribedToken {
  const { id, name, scopes, createdMs, expiresMs, revokedMs, rate, lastUsedMs, oldSecretUntilMs } = token;
  return {
    id,
    name,
    scopes,
    created: toIsoTime(createdMs),
    ...(expiresMs !== null && { expires: toIsoTime(expiresMs) }),
    ...(rate && { rate: printRate(rate) }),
    ...(lastUsedMs !== null && { lastUsed: toIsoTime(lastUsedMs) }),
    ...(oldSecretUntilMs !== null && oldSecretUntilMs > nowMs && { rotating: toIsoTime(oldSecretUntilMs) }),
    status: isActive(token, nowMs) ? 'active' : revokedMs === null ? 'expired' : 'revoked',
  };
}

/** What can be wrong with a credential. */
export const CREDENTIAL_FAULTS = ['malformed', 'unknown', 'expired', 'revoked', 'bad_jwt', 'no_key'] as const;
export type CredentialFault = (typeof CREDENTIAL_FAULTS)[number];

/** The client is not told which fault it was: that would help only who guesses. The log is. */
export class BadCredential extends PlantStoreError {
  readonly reason: CredentialFault;
  readonly why: string | undefined;

  constructor(reason: CredentialFault, why?: string) {
    super('bad_token', 'The token is malformed, unknown, expired or revoked: ask for a new one');
    this.reason = reason;
    this.why = why;
  }
}

/** Throws `scope_missing` unless the token has all of these scopes. */
export function requireScopes({ scopes }: Pick<Token, 'scopes'>, wanted: Scope | readonly Scope[]): void {
  if (typeof wanted === 'string' ? scopes.includes(wanted) : wanted.every((scope) => scopes.includes(scope))) return;
  const all = [wanted].flat();
  const missing = all.filter((scope) => !scopes.includes(scope));
  const message = `The token lacks the scope${missing.length > 1 ? 's' : ''} "${missing.join('" and "')}"`;
  throw new PlantStoreError('scope_missing', message, { detail: { scope: all.join(' ') } });
}

export function isActive(token: Token, nowMs: number): boolean {
  return token.revokedMs === null && (token.expiresMs === null || nowMs < token.expiresMs);
}

export type NewToken = Pick<Token, 'name' | 'scopes' | 'expiresMs'> & Partial<Pick<Token, 'rate'>>;

/** The secret is given back here and never again. */
export async function issueToken(store: TokenStore, wanted: NewToken, nowMs: number) {
  const secret = mintSecret();
  const token: Token = {
    rate: null,
    ...wanted,
    id: mintTokenId(),
    createdMs: nowMs,
    revokedMs: null,
    lastUsedMs: null,
    oldSecretUntilMs: null,
  };
  await store.addToken(token, hashSecret(secret));
  return { token, secret };
}

/** The same: a new secret for a token that has one. */
export async function renewSecret(store: TokenStore, id: string, nowMs: number, graceMs: number) {
  const secret = mintSecret();
  const token = await store.rotateToken(id, hashSecret(secret), nowMs, nowMs + graceMs);
  return { token, secret };
}
