// The client's methods for tokens. The client never retries calls that create a secret after a lost response: the retry
// would create a second secret.

import type {
  DescribedToken,
  TokenPage,
  TokenPageQuery,
  TokenPatch,
  TokenWithSecret,
  WantedToken,
} from '../domain/token.ts';
import { toQuery } from '../lib/query.ts';
import { type CallOptions, json, type Requester } from './request.ts';
import { having, nextParameter, toArray } from './response.ts';

/** Methods for tokens. All except `self` need the scope `admin`. */
export interface TokensClient {
  /** Creates a token. Only this response contains its secret. */
  create(token: WantedToken, options?: CallOptions): Promise<TokenWithSecret>;
  /** Returns all tokens, including expired and revoked ones, oldest first. */
  list(options?: CallOptions): Promise<DescribedToken[]>;
  /** Returns a page of the same list: 100 tokens by default, 1000 at most. `next` is the cursor of the next page. */
  page(query?: TokenPageQuery, options?: CallOptions): Promise<TokenPage>;
  /** Returns a token. Throws `not_found`. */
  get(id: string, options?: CallOptions): Promise<DescribedToken>;
  /**
   * Changes the name, scopes, rate or expiry of an active token. `null` removes the rate or the expiry. Throws
   * `last_admin` if the last active token with the scope `admin` would lose it or expire earlier.
   */
  update(id: string, change: TokenPatch, options?: CallOptions): Promise<DescribedToken>;
  /** Creates a new secret. The old one remains valid for `grace`: `24h` by default, `0` revokes it immediately. */
  rotate(id: string, how?: { grace?: string | undefined }, options?: CallOptions): Promise<TokenWithSecret>;
  /** Returns the token or JWT that this client uses. It requires no scope. */
  self(options?: CallOptions): Promise<DescribedToken>;
  /** Revokes a token. Throws `last_admin` if no other active token has the scope `admin`. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

const WALK_LIMIT = 1000;
const toToken = having<DescribedToken>('id', 'name', 'scopes');
const toSecret = having<TokenWithSecret>('secret');

/** Returns the client's `tokens`. */
export function createTokensClient({ requestJson, requestNothing }: Requester, base: string): TokensClient {
  const client: TokensClient = {
    async list(options) {
      const all: DescribedToken[] = [];
      for (let cursor: string | undefined; ; ) {
        const { tokens, next } = await client.page({ limit: WALK_LIMIT, cursor }, options);
        all.push(...tokens);
        if (next === undefined) return all;
        cursor = next;
      }
    },
    page({ limit, cursor } = {}, options) {
      const path = `/tokens${toQuery({ limit, cursor })}`;
      return requestJson({ ...options, method: 'GET', path }, (tokens, headers) => {
        const next = nextParameter(headers, base, 'cursor');
        return { tokens: toArray<DescribedToken>(tokens), ...(next !== undefined && { next }) };
      });
    },
    create: (token, options) => requestJson({ ...options, method: 'POST', path: '/tokens', ...json(token) }, toSecret),
    get: (id, options) => requestJson({ ...options, method: 'GET', path: pathOf(id) }, toToken),
    self: (options) => requestJson({ ...options, method: 'GET', path: '/tokens/self' }, toToken),
    update: (id, change, options) =>
      requestJson({ ...options, method: 'PATCH', path: pathOf(id), ...json(change) }, toToken),
    rotate: (id, { grace } = {}, options) =>
      requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/rotate${toQuery({ grace })}` }, toSecret),
    revoke: (id, options) => requestNothing({ ...options, method: 'DELETE', path: pathOf(id) }),
  };
  return client;
}

function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}
