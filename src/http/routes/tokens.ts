// Everything under /tokens: who may use the service, for what, how often and how long.

import { z } from 'zod';
import { PlantStoreError } from '../../domain/errors.ts';
import { SCOPES, type Scope } from '../../domain/names.ts';
import {
  DEFAULT_GRACE_MS,
  DEFAULT_SCOPES,
  DescribedToken,
  describeToken,
  issueToken,
  renewSecret,
  requireScopes,
  type Token,
  type TokenStore,
  TokenWithSecret,
  WantedToken,
} from '../../domain/token.ts';
import { parseDuration } from '../../lib/duration.ts';
import { parseRate } from '../../lib/token-bucket.ts';
import { jsonBody } from '../core/json-body.ts';
import { grace, tokenId as id } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

const NEW_SECRET = 'The token with its new secret, which is shown only now';

export function tokenRoutes(store: TokenStore, basePath: string, clock: () => number): Route[] {
  return [
    route('POST /tokens', 'createToken', 'admin', {
      summary: 'Make a token',
      description: 'It can have no scope that the token which asks for it lacks.',
      body: jsonBody(WantedToken),
      response: {
        status: 201,
        description: 'The token with its secret, which is shown only now',
        schema: TokenWithSecret,
        headers: { Location: 'Path of the token', ...NO_STORE },
      },
      async handle({ body: { name, scopes = DEFAULT_SCOPES, expires, rate }, token: own, reply }) {
        requireOwnScopes(own, scopes);
        const nowMs = clock();
        const wanted = {
          name,
          scopes: SCOPES.filter((scope) => scopes.includes(scope)),
          expiresMs: expires === undefined ? null : toFuture(expires, nowMs),
          rate: (rate !== undefined && parseRate(rate)) || null,
        };
        const { token, secret } = await issueToken(store, wanted, nowMs);
        reply.header('location', `${basePath}/tokens/${token.id}`);
        return { ...describeToken(token, nowMs), secret };
      },
    }),
    route('GET /tokens', 'listTokens', 'admin', {
      summary: 'List all tokens, oldest first',
      description: 'Also those that are expired or revoked: the change log names them.',
      response: { description: 'Tokens, without their secrets', schema: z.array(DescribedToken) },
      handle: async () => (await store.listTokens()).map((token) => describeToken(token, clock())),
    }),
    route('GET /tokens/self', 'getOwnToken', 'any', {
      summary: 'Tell what the credential of this request may do',
      description:
        'Whatever its scopes. A JWT is described as a token, too: its id is `jwt:` and its subject, its name the subject.',
      response: { description: 'The token, without its secret', schema: DescribedToken, headers: NO_STORE },
      handle: ({ token }) => describeToken(token, clock()),
    }),
    route('GET /tokens/:id', 'getToken', 'admin', {
      summary: 'Read a token',
      parameters: { id },
      response: { description: 'The token, without its secret', schema: DescribedToken },
      errors: ['not_found'],
      handle: async ({ parameters: { id } }) => describeToken(await store.getToken(id), clock()),
    }),
    route('DELETE /tokens/:id', 'revokeToken', 'admin', {
      summary: 'Revoke a token',
      description:
        'No node takes it a second later. The last token that is active with the scope `admin` cannot be revoked here.',
      parameters: { id },
      response: { status: 204, description: 'It is revoked' },
      errors: ['not_found', 'last_admin'],
      handle: ({ parameters: { id } }) => store.revokeToken(id, clock()),
    }),
    route('POST /tokens/:id/rotate', 'rotateToken', 'admin', {
      summary: 'Give a token a new secret',
      description: 'All else of it stays. The old secret is taken, too, until `grace` is over.',
      parameters: { id, grace },
      response: { description: NEW_SECRET, schema: TokenWithSecret, headers: NO_STORE },
      errors: ['not_found'],
      async handle({ parameters: { id, grace: graceMs = DEFAULT_GRACE_MS }, token: own }) {
        requireOwnScopes(own, (await store.getToken(id)).scopes);
        const { token, secret } = await renewSecret(store, id, clock(), graceMs);
        return { ...describeToken(token, clock()), secret };
      },
    }),
  ];
}

/** Nobody gets at more than they have by making, or taking over, a token. */
function requireOwnScopes(own: Token, wanted: Scope[]): void {
  for (const scope of wanted) requireScopes(own, scope);
}

function toFuture(text: string, nowMs: number): number {
  const durationMs = parseDuration(text);
  const timeMs = durationMs === undefined ? Date.parse(text) : nowMs + durationMs;
  if (timeMs > nowMs) return timeMs;
  throw new PlantStoreError('not_valid', '"expires" must be in the future');
}
