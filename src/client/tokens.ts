// Tokens over HTTP, for the client. What makes a secret is sent once only: a second one would be nobody's.

import type { DescribedToken, TokenWithSecret, WantedToken } from '../domain/token.ts';
import { type Caller, type CallOptions, json, toQuery } from './request.ts';

/** All but `self` need the scope `admin`. */
export interface TokensClient {
  /** Its secret is in this answer, and in no other. */
  create(token: WantedToken, options?: CallOptions): Promise<TokenWithSecret>;
  /** Oldest first, also those that are expired or revoked. */
  list(options?: CallOptions): Promise<DescribedToken[]>;
  get(id: string, options?: CallOptions): Promise<DescribedToken>;
  /** The old secret is taken, too, until `grace` is over: `24h` by default, `0` ends it now. */
  rotate(id: string, how?: { grace?: string | undefined }, options?: CallOptions): Promise<TokenWithSecret>;
  /** The one that this client has, or its JWT, whatever its scopes. */
  self(options?: CallOptions): Promise<DescribedToken>;
  /** Throws `last_admin` for the last one with that scope. */
  revoke(id: string, options?: CallOptions): Promise<void>;
}

export function createTokensClient({ ask, request }: Caller): TokensClient {
  return {
    create(token, options) {
      return ask({ ...options, method: 'POST', path: '/tokens', ...json(token) }, (made) => made as TokenWithSecret);
    },
    list(options) {
      return ask({ ...options, method: 'GET', path: '/tokens' }, (tokens) => tokens as DescribedToken[]);
    },
    get(id, options) {
      return ask({ ...options, method: 'GET', path: pathOf(id) }, (token) => token as DescribedToken);
    },
    self(options) {
      return ask({ ...options, method: 'GET', path: '/tokens/self' }, (token) => token as DescribedToken);
    },
    rotate(id, { grace } = {}, options) {
      const path = `${pathOf(id)}/rotate${toQuery({ grace })}`;
      return ask({ ...options, method: 'POST', path }, (token) => token as TokenWithSecret);
    },
    async revoke(id, options) {
      await request({ ...options, method: 'DELETE', path: pathOf(id) }, (response) => response.text());
    },
  };
}

function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}
