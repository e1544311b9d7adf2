// The routes under /tokens, which create, list, change, rotate and revoke tokens.

import { z } from 'zod';
import type { Scope } from '../../domain/names.ts';
import {
  DEFAULT_SCOPES,
  DescribedToken,
  describeToken,
  requireScopes,
  type Token,
  TokenPatch,
  type TokenStore,
  TokenWithSecret,
  WantedToken,
} from '../../domain/token.ts';
import { createTokenOperations } from '../../domain/token-operations.ts';
import { jsonBody } from '../core/json-body.ts';
import { cursor, grace, tokenId as id, limit } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

const NEXT_PAGE = 'URL of the next page with `rel="next"` (RFC 8288). Absent on the last page.';
const NEW_SECRET = 'The token with its new secret, which is shown only in this response';

export function tokenRoutes(store: TokenStore, basePath: string, clock: () => number): Route[] {
  const tokens = createTokenOperations(store, clock);
  return [
    route('POST /tokens', 'createToken', 'admin', {
      summary: 'Create a token',
      description:
        'Creates a token and returns it with its secret. Store the secret, because the server does not show it again. ' +
        'You can only grant scopes that your own token has.',
      body: jsonBody(WantedToken),
      response: {
        status: 201,
        description: 'The token with its secret, which is shown only in this response',
        schema: TokenWithSecret,
        headers: { Location: { description: 'Path of the token', example: '/tokens/tok_I46W9MwWENQq' }, ...NO_STORE },
      },
      async handle({ body, token: own, reply }) {
        requireOwnScopes(own, body.scopes ?? DEFAULT_SCOPES);
        const created = await tokens.create(body);
        reply.header('location', `${basePath}/tokens/${created.id}`);
        return created;
      },
    }),
    route('GET /tokens', 'listTokens', 'admin', {
      takesTurn: true,
      summary: 'List tokens',
      description:
        'Returns a page of tokens, oldest first. The `Link` header has the URL of the next page. ' +
        'The list includes expired and revoked tokens, because the change log refers to them.',
      parameters: { limit, cursor },
      response: {
        description: 'A page of tokens, without their secrets',
        schema: z.array(DescribedToken),
        headers: { Link: NEXT_PAGE },
      },
      async handle({ parameters: query, reply }) {
        const { tokens: page, next } = await tokens.page(query);
        if (next !== undefined) reply.nextPage(`${basePath}/tokens`, { limit: query.limit, cursor: next });
        return page;
      },
    }),
    route('GET /tokens/self', 'getOwnToken', 'any', {
      summary: 'Get your own token',
      description:
        'Returns the token that authenticates this request. It requires no scope. A JWT is returned as a token: its id is ' +
        '`jwt:` followed by the subject, and its name is the subject.',
      response: { description: 'The token, without its secret', schema: DescribedToken, headers: NO_STORE },
      handle: ({ token }) => describeToken(token, clock()),
    }),
    route('GET /tokens/:id', 'getToken', 'admin', {
      summary: 'Get a token',
      description: 'Returns a token by its id, without its secret.',
      parameters: { id },
      response: { description: 'The token, without its secret', schema: DescribedToken },
      errors: ['not_found'],
      handle: ({ parameters: { id } }) => tokens.get(id),
    }),
    route('PATCH /tokens/:id', 'updateToken', 'admin', {
      summary: 'Update a token',
      description:
        'Changes the name, scopes, rate or expiry of an active token with a JSON merge patch (RFC 7396) and returns the token. ' +
        'Fields that you omit keep their values. `null` removes the rate or the expiry. The secret stays the same. ' +
        'After one second, every node applies the change. ' +
        'Your own token must have all scopes that the token has, and all that it gets. ' +
        'The last active token with the scope `admin` keeps this scope and cannot expire earlier: the server returns 409.',
      parameters: { id },
      body: jsonBody(TokenPatch, 'application/merge-patch+json'),
      response: { description: 'The changed token, without its secret', schema: DescribedToken },
      errors: ['not_found', 'last_admin'],
      async handle({ parameters: { id }, body, token: own }) {
        requireOwnScopes(own, body.scopes ?? []);
        requireOwnScopes(own, (await store.getToken(id)).scopes);
        return tokens.update(id, body);
      },
    }),
    route('DELETE /tokens/:id', 'revokeToken', 'admin', {
      summary: 'Revoke a token',
      description:
        'Revokes a token. After one second, every node rejects it. ' +
        'You cannot revoke the last active token with the scope `admin` over HTTP: the server returns 409.',
      parameters: { id },
      response: { status: 204, description: 'The token is revoked' },
      errors: ['not_found', 'last_admin'],
      handle: ({ parameters: { id } }) => tokens.revoke(id),
    }),
    route('POST /tokens/:id/rotate', 'rotateToken', 'admin', {
      summary: 'Rotate the secret of a token',
      description:
        'Replaces the secret of a token and returns the new secret. The id, name, scopes, rate and expiry stay the same. ' +
        'The server accepts the old secret until the time in `grace` is over.',
      parameters: { id, grace },
      response: { description: NEW_SECRET, schema: TokenWithSecret, headers: NO_STORE },
      errors: ['not_found'],
      async handle({ parameters: { id, grace }, token: own }) {
        requireOwnScopes(own, (await store.getToken(id)).scopes);
        return tokens.rotate(id, { grace });
      },
    }),
  ];
}

/** Throws if the own token lacks a scope, so that a client cannot gain scopes with a token that it manages. */
function requireOwnScopes(own: Token, wanted: Scope[]): void {
  for (const scope of wanted) requireScopes(own, scope);
}
