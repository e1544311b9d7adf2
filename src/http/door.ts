// The one door: whoever is let in has a good credential, is within its rate, and has the scope that is asked for. Who is
// not is told why, and counted.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, PlantStoreError } from '../error.ts';
import type { Observe, Refused } from '../observe.ts';
import { BadCredential, type Scope, type Token } from '../token.ts';
import type { Authenticator } from './auth.ts';
import { lacksScope } from './errors.ts';
import { createLimits } from './limits.ts';

const REFUSED: Partial<Record<ErrorCode, Refused>> = {
  no_credentials: 'no_credentials',
  scope_missing: 'scope',
  over_rate: 'rate',
};

export type AdmittedRequest = FastifyRequest & { begunMs?: number; address?: string; token?: Token };

export interface Door {
  /** Without a scope any token will do. Throws `no_credentials`, `bad_token`, `over_rate`, `scope_missing`. */
  letIn(request: AdmittedRequest, reply: FastifyReply, scope?: Scope): Promise<void>;
  /** For one whose body has taken so long that its credential may have ended meanwhile. Throws `bad_token`. */
  requireStillGood(request: AdmittedRequest): Promise<void>;
}

export function createDoor({ authenticate, findFault }: Authenticator, observe: Observe): Door {
  const countRequest = createLimits();

  return {
    async letIn(request, reply, scope) {
      try {
        const found = authenticate(request, reply);
        const token = found instanceof Promise ? await found : found;
        request.token = token;
        countRequest(token, reply, request.begunMs ?? 0);
        if (scope && !token.scopes.includes(scope)) throw lacksScope(scope);
      } catch (error) {
        if (error instanceof PlantStoreError) observeRefusal(error, request);
        throw error;
      }
    },
    async requireStillGood(request) {
      const fault = await findFault(request.headers.authorization);
      if (!fault) return;
      observeRefusal(fault, request);
      throw fault;
    },
  };

  function observeRefusal(error: PlantStoreError, { id, token }: AdmittedRequest): void {
    if (error instanceof BadCredential) {
      observe({ kind: 'refused', reason: error.reason, requestId: id, why: error.why });
      return;
    }
    const reason = error.code === 'over_rate' && !token ? 'too_many_wrong' : REFUSED[error.code];
    if (reason) observe({ kind: 'refused', reason, requestId: id, why: token?.id });
  }
}
