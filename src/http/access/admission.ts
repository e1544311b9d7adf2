// Admits a request only if it has a valid credential, is within its rate, and has every required scope.

import type { Scope } from '../../domain/names.ts';
import { BadCredential, requireScopes, type Token } from '../../domain/token.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { Authenticator } from './authenticator.ts';
import { createRateLimit } from './rate-limit.ts';
import type { SharedLimits } from './shared-limits.ts';

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({ authenticate, recheck }: Authenticator, { rates }: SharedLimits) {
  const takeFromRate = createRateLimit(rates);

  return {
    /** Throws, or rejects with, the reason for a rejection. Returns a promise only if the token must be looked up. */
    admit(request: HttpRequest, reply: HttpReply, scopes: readonly Scope[]): void | Promise<void> {
      const found = authenticate(request, reply);
      if (found instanceof Promise) return found.then((token) => acceptToken(token, request, reply, scopes));
      acceptToken(found, request, reply, scopes);
    },
    /**
     * Checks the credential again after a slow body, during which it may have expired or lost a scope. Throws
     * `bad_token` or `scope_missing`.
     */
    async requireStillGood(request: HttpRequest, scopes: readonly Scope[]): Promise<void> {
      const found = await recheck(request.headers.authorization);
      if (!found) return;
      if (found instanceof BadCredential) throw found;
      request.token = found;
      requireScopes(found, scopes);
    },
  };

  function acceptToken(token: Token, request: HttpRequest, reply: HttpReply, scopes: readonly Scope[]): void {
    request.token = token;
    takeFromRate(token, reply, request.startedMs);
    requireScopes(token, scopes);
  }
}
