// Tokens over HTTP, for the client. What makes a secret is sent once only: a second one would be nobody's.

import type { DescribedToken, TokenWithSecret, WantedToken } from '../domain/token.ts';
import { type CallOptions, json, type Requester, toQuery } from './request.ts';

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

export function createTokensClient({ requestJson, request }: Requester): TokensClient {
  return {
    create: (token, options) => requestJson({ ...options, method: 'POST', path: '/tokens', ...json(token) }),
    list: (options) => requestJson({ ...options, method: 'GET', path: '/tokens' }),
    get: (id, options) => requestJson({ ...options, method: 'GET', path: pathOf(id) }),
    self: (options) => requestJson({ ...options, method: 'GET', path: '/tokens/self' }),
    rotate: (id, { grace } = {}, options) =>
      requestJson({ ...options, method: 'POST', path: `${pathOf(id)}/rotate${toQuery({ grace })}` }),
    async revoke(id, options) {
      await request({ ...options, method: 'DELETE', path: pathOf(id) }, (response) => response.text());
    },
  };
}

function pathOf(id: string): string {
  return `/tokens/${encodeURIComponent(id)}`;
}
