// The operations on tokens that the API and the commands offer, with durations and rates as people write them.

import { parseDuration } from '../lib/duration.ts';
import { parseRate } from '../lib/token-bucket.ts';
import { PlantStoreError } from './errors.ts';
import { readTokenCursor, toTokenCursor } from './list-cursor.ts';
import { DEFAULT_GRACE, SCOPES, type Scope } from './names.ts';
import { DEFAULT_LIMIT } from './page-size.ts';
import {
  DEFAULT_SCOPES,
  type DescribedToken,
  describeToken,
  issueToken,
  renewSecret,
  type TokenPage,
  type TokenPageQuery,
  type TokenPatch,
  type TokenStore,
  type TokenWithSecret,
  type WantedToken,
} from './token.ts';

/** Operations on the tokens of a store. They do not check the scopes of the caller. */
export interface TokenOperations {
  /** Creates a token. Its secret cannot be read again. */
  create(wanted: WantedToken): Promise<TokenWithSecret>;
  /** Returns all tokens, oldest first. */
  list(): Promise<DescribedToken[]>;
  /** Returns a page of the same list. Throws `bad_parameter` if the cursor is malformed. */
  page(query?: TokenPageQuery): Promise<TokenPage>;
  /** Throws `not_found`. */
  get(id: string): Promise<DescribedToken>;
  /** Changes an active token. Throws `not_found` and `last_admin`. */
  update(id: string, patch: TokenPatch): Promise<DescribedToken>;
  /** Creates a new secret. The old one remains valid for `grace`, `24h` by default. Throws `not_found`. */
  rotate(id: string, how?: { grace?: string | undefined }): Promise<TokenWithSecret>;
  /** Revokes a token. Throws `not_found`, and `last_admin` if no other active token has the scope `admin`. */
  revoke(id: string): Promise<void>;
}

export function createTokenOperations(store: TokenStore, clock: () => number): TokenOperations {
  return {
    async create({ name, scopes = DEFAULT_SCOPES, expires, rate }) {
      const nowMs = clock();
      const wanted = {
        name,
        scopes: inOrder(scopes),
        expiresMs: expires === undefined ? null : toFuture(expires, nowMs),
        rate: (rate !== undefined && parseRate(rate)) || null,
      };
      const { token, secret } = await issueToken(store, wanted, nowMs);
      return { ...describeToken(token, nowMs), secret };
    },
    list: async () => (await store.listTokens()).map((token) => describeToken(token, clock())),
    async page({ limit = DEFAULT_LIMIT, cursor } = {}) {
      const after = cursor === undefined ? undefined : readTokenCursor(cursor);
      const found = await store.listTokens({ limit: limit + 1, after });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const tokens = page.map((token) => describeToken(token, clock()));
      return { tokens, ...(last && found.length > limit && { next: toTokenCursor(last) }) };
    },
    get: async (id) => describeToken(await store.getToken(id), clock()),
    async update(id, { name, scopes, expires, rate }) {
      const nowMs = clock();
      const change = {
        name,
        scopes: scopes && inOrder(scopes),
        expiresMs: typeof expires === 'string' ? toFuture(expires, nowMs) : expires,
        rate: typeof rate === 'string' ? parseRate(rate) : rate,
      };
      return describeToken(await store.updateToken(id, change, nowMs), nowMs);
    },
    async rotate(id, { grace = DEFAULT_GRACE } = {}) {
      const nowMs = clock();
      const { token, secret } = await renewSecret(store, id, nowMs, parseDuration(grace) ?? 0);
      return { ...describeToken(token, nowMs), secret };
    },
    revoke: (id) => store.revokeToken(id, clock()),
  };
}

function inOrder(scopes: Scope[]): Scope[] {
  return SCOPES.filter((scope) => scopes.includes(scope));
}

function toFuture(text: string, nowMs: number): number {
  const durationMs = parseDuration(text);
  const timeMs = durationMs === undefined ? Date.parse(text) : nowMs + durationMs;
  if (timeMs > nowMs) return timeMs;
  throw new PlantStoreError('not_valid', '"expires" must be in the future');
}
