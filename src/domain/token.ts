// Bearer tokens: their scopes, expiry and rate, and the store that keeps the hashes of their secrets.
// The secret itself is shown once, on creation, and is not stored.

import { z } from 'zod';
import { DURATION_PATTERN, parseDuration } from '../lib/duration.ts';
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
  /** Maximum rate of requests. */
  rate: Rate | null;
  /** Time of the last use, rounded down to the minute. */
  lastUsedMs: number | null;
  /** Time until which a replaced secret is still accepted. */
  oldSecretUntilMs: number | null;
}

/** The place of a token in the list. */
export type TokenPlace = Pick<Token, 'createdMs' | 'id'>;

export interface TokenStore {
  addToken(token: Token, secretHash: string): Promise<void>;
  /** Returns the token, even if expired or revoked. A token found by a replaced secret expires with that secret. */
  findToken(secretHash: string): Promise<Token | undefined>;
  /** Throws `not_found`. */
  getToken(id: string): Promise<Token>;
  /** Returns all tokens, or at most `limit` of those after `after`, oldest first. */
  listTokens(page?: { limit?: number | undefined; after?: TokenPlace | undefined }): Promise<Token[]>;
  /** Throws `not_found`, and `last_admin` if no other active token has the scope `admin`, unless `evenLastAdmin`. */
  revokeToken(id: string, nowMs: number, evenLastAdmin?: boolean): Promise<void>;
  /**
   * Replaces the secret. All earlier secrets expire at `oldUntilMs` or before. Throws `not_found` if the token is not
   * active.
   */
  rotateToken(id: string, secretHash: string, nowMs: number, oldUntilMs: number): Promise<Token>;
  /**
   * Changes a token. Throws `not_found` if the token is not active, and `last_admin` if no other active token has the
   * scope `admin` and the change takes this scope from the token or lets it expire earlier.
   */
  updateToken(id: string, change: TokenChange, nowMs: number): Promise<Token>;
  /** Records a use of each token. Returns the ids of those that are locked by another write, which stay as they are. */
  noteUse(ids: string[], timeMs: number): Promise<string[]>;
}

/** Properties of a token that can change. Undefined properties stay as they are. */
export type TokenChange = { [Name in 'name' | 'scopes' | 'rate' | 'expiresMs']?: Token[Name] | undefined };

export const MAX_NAME_CHARS = 100;
export const NAME_FORM = '1 to 100 characters, without control characters';

/** True if the text is one line of 1 to 100 characters that a terminal can show. */
export function isTokenName(text: string): boolean {
  return text.trim() !== '' && [...text].length <= MAX_NAME_CHARS && isOneLine(text);
}

const UNSHOWN = '\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}';
/**
 * The same characters for any regular expression engine, without the few above U+FFFF: engines write those differently.
 */
const UNSHOWN_PORTABLY =
  '\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const OF_MANY_LINES = new RegExp(`[${UNSHOWN}]`, 'u');

export function isOneLine(text: string): boolean {
  return !OF_MANY_LINES.test(text);
}

/** Scopes of a token that is created without a list of scopes. */
export const DEFAULT_SCOPES: Scope[] = ['plants:read', 'plants:write'];

const EXPIRES_FORM = 'a time such as 2030-01-01T00:00:00Z, or a duration such as 90d';
/** Checks only the syntax. The code also requires an existing day in the future. */
const EXPIRES_PATTERN = `^(${DURATION_PATTERN}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))$`;
const ScopeName = z.enum(SCOPES, { error: `must be one of ${SCOPES.join(', ')}` });
const RateText = z
  .string({ error: `must be ${RATE_FORM}` })
  .refine((text) => parseRate(text) !== undefined, { error: `must be ${RATE_FORM}` })
  .meta({
    description: 'Maximum number of requests per second, minute or hour, such as `100/s`, `600/m` or `5000/h`',
    pattern: '^([1-9][0-9]{0,5}|1000000)/[smh]$',
    examples: ['100/s'],
  });

const Name = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
  .refine(isTokenName, { error: `must have ${NAME_FORM}` })
  .meta({
    description: 'A name for the token, such as the name of the client that uses it',
    minLength: 1,
    maxLength: MAX_NAME_CHARS,
    examples: ['web shop'],
    pattern: `^[^${UNSHOWN_PORTABLY}]*[^\\s${UNSHOWN_PORTABLY}][^${UNSHOWN_PORTABLY}]*$`,
  });
const Scopes = z.array(ScopeName, { error: 'must be an array' }).min(1, { error: 'must name at least one scope' });
const ExpiresText = z
  .string({ error: `must be ${EXPIRES_FORM}` })
  .refine((text) => isTime(text) || parseDuration(text) !== undefined, { error: `must be ${EXPIRES_FORM}` })
  .meta({ pattern: EXPIRES_PATTERN });

/** The body of a request to create a token. */
export const WantedToken = z
  .strictObject(
    {
      name: Name,
      scopes: Scopes.optional().meta({
        description: 'Scopes of the new token. You can only grant scopes that your own token has.',
        default: DEFAULT_SCOPES,
        examples: [['plants:read']],
      }),
      expires: ExpiresText.optional().meta({
        description:
          'Expiry of the token: a time (RFC 3339), or a duration of at most 100 years, such as `90d`. Without it, the token never expires.',
        pattern: EXPIRES_PATTERN,
        examples: ['90d'],
      }),
      rate: RateText.optional(),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'NewToken', description: 'The name, the scopes and the limits of the new token' });
export type WantedToken = z.input<typeof WantedToken>;

/** The body of a request to change a token. */
export const TokenPatch = z
  .strictObject(
    {
      name: Name.optional(),
      scopes: Scopes.optional().meta({
        description: 'All scopes that the token has from now on. You can only grant scopes that your own token has.',
        examples: [['plants:read', 'plants:write']],
      }),
      expires: ExpiresText.nullable()
        .optional()
        .meta({
          description:
            'Expiry of the token: a time (RFC 3339), or a duration from now of at most 100 years, such as `90d`. `null` removes the expiry.',
          examples: ['90d'],
        }),
      rate: RateText.nullable()
        .optional()
        .meta({
          description:
            'Maximum number of requests per second, minute or hour, such as `100/s`. `null` removes the limit.',
          examples: ['100/s'],
        }),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'TokenPatch', description: 'The fields of a token that change' });
export type TokenPatch = z.input<typeof TokenPatch>;

const DESCRIBED = {
  id: z.string().meta({ description: 'Id of the token', examples: ['tok_I46W9MwWENQq'] }),
  name: z.string().meta({ description: 'Name of the token', examples: ['web shop'] }),
  scopes: z.array(z.enum(SCOPES)).meta({ description: 'Scopes of the token', examples: [['plants:read']] }),
  created: Time.meta({ description: 'Time at which the token was created' }),
  expires: Time.optional().meta({
    description: 'Time at which the token expires. Absent if it never expires.',
    examples: ['2027-02-15T09:30:00.000Z'],
  }),
  rate: RateText.optional(),
  lastUsed: Time.optional().meta({
    description: 'Time of the last use, rounded down to the minute. Absent if the token was never used.',
    examples: ['2026-11-17T09:41:00.000Z'],
  }),
  rotating: Time.optional().meta({
    description: 'Present after a rotation: the time until which the old secret is still accepted',
    examples: ['2026-11-18T09:30:00.000Z'],
  }),
  status: z.enum(['active', 'expired', 'revoked']).meta({ description: 'Status of the token', examples: ['active'] }),
};

/** A token as the API returns it, without its secret or hash. */
export const DescribedToken = z.object(DESCRIBED).meta({ id: 'Token', description: 'A token without its secret' });
export type DescribedToken = z.output<typeof DescribedToken>;

/** A page of the list of tokens. `next` is the cursor of the next page, and undefined at the end. */
export interface TokenPage {
  tokens: DescribedToken[];
  next?: string | undefined;
}

export interface TokenPageQuery {
  limit?: number | undefined;
  cursor?: string | undefined;
}

export const TokenWithSecret = z
  .object({
    ...DESCRIBED,
    secret: z.string().meta({
      description: 'The secret that clients send as the bearer token. It is shown only in this response.',
      examples: ['pst_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEX000000'],
    }),
  })
  .meta({ id: 'TokenWithSecret', description: 'A token with its secret' });
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

/** Reasons for which a credential is rejected. */
export const CREDENTIAL_FAULTS = ['malformed', 'unknown', 'expired', 'revoked', 'bad_jwt', 'no_key'] as const;
export type CredentialFault = (typeof CREDENTIAL_FAULTS)[number];

/** Reasons for rejecting a request before it is executed. */
export const REFUSAL_REASONS = [
  'no_credentials',
  ...CREDENTIAL_FAULTS,
  'too_many_wrong',
  'scope',
  'rate',
  'share',
] as const;
/** One of the reasons. */
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A rejected credential. The reason is logged but not sent to the client, because it would only help an attacker. */
export class BadCredential extends PlantStoreError {
  readonly reason: CredentialFault;
  readonly why: string | undefined;

  constructor(reason: CredentialFault, why?: string) {
    super('bad_token', 'The token is malformed, unknown, expired or revoked. Use another token.');
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

/** Creates a token. Returns its secret, which cannot be read again. */
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

/** Replaces the secret of a token. Returns the new secret, which cannot be read again. */
export async function renewSecret(store: TokenStore, id: string, nowMs: number, graceMs: number) {
  const secret = mintSecret();
  const token = await store.rotateToken(id, hashSecret(secret), nowMs, nowMs + graceMs);
  return { token, secret };
}
