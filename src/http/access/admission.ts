// Admits a request only if it has a valid credential, is within its rate, and has every required scope. Rejected
// requests get the reason and are counted.

import { type ErrorCode, PlantStoreError } from '../../domain/errors.ts';
import type { Scope } from '../../domain/names.ts';
import { BadCredential, requireScopes, type Token } from '../../domain/token.ts';
import type { DenialReason, Observe } from '../../observability/service-events.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { Authenticator } from './authenticator.ts';
import { createRateLimit } from './rate-limit.ts';
import type { SharedLimits } from './shared-limits.ts';

const REASON_BY_CODE: Partial<Record<ErrorCode, DenialReason>> = {
  no_credentials: 'no_credentials',
  scope_missing: 'scope',
  over_rate: 'rate',
};

export type Admission = ReturnType<typeof createAdmission>;

export function createAdmission({ authenticate, recheck }: Authenticator, { rates }: SharedLimits, observe: Observe) {
  const takeFromRate = createRateLimit(rates);

  return {
    /** Throws, or rejects with, the reason for a rejection. Returns a promise only if the token must be looked up. */
    admit(request: HttpRequest, reply: HttpReply, scopes?: Scope | readonly Scope[]): void | Promise<void> {
      try {
        const found = authenticate(request, reply);
        if (!(found instanceof Promise)) return acceptToken(found, request, reply, scopes);
        return found
          .then((token) => acceptToken(token, request, reply, scopes))
          .catch((error) => observeAndThrow(error, request));
      } catch (error) {
        return observeAndThrow(error, request);
      }
    },
    /**
     * Checks the credential again after a slow body, during which it may have expired or lost a scope. Throws
     * `bad_token` or `scope_missing`.
     */
    async requireStillGood(request: HttpRequest, scopes: Scope | readonly Scope[] = []): Promise<void> {
      const found = await recheck(request.headers.authorization);
      if (!found) return;
      try {
        if (found instanceof BadCredential) throw found;
        request.token = found;
        requireScopes(found, scopes);
      } catch (error) {
        observeAndThrow(error, request);
      }
    },
  };

  function acceptToken(
    token: Token,
    request: HttpRequest,
    reply: HttpReply,
    scopes: Scope | readonly Scope[] = [],
  ): void {
    request.token = token;
    takeFromRate(token, reply, request.startedMs);
    requireScopes(token, scopes);
  }

  function observeAndThrow(error: unknown, request: HttpRequest): never {
    if (error instanceof PlantStoreError) observeRefusal(error, request);
    throw error;
  }

  function observeRefusal(error: PlantStoreError, { id, token }: HttpRequest): void {
    if (error instanceof BadCredential) {
      observe({ kind: 'refused', reason: error.reason, requestId: id, why: error.why });
      return;
    }
    const reason = error.code === 'over_rate' && !token ? 'too_many_wrong' : REASON_BY_CODE[error.code];
    if (reason) observe({ kind: 'refused', reason, requestId: id, why: token?.id });
  }
}
