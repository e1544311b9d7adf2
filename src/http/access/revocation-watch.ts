// Ends long requests, such as event streams, when their credential expires or is revoked.

import type { BadCredential } from '../../domain/token.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { Authenticator } from './authenticator.ts';

/** Interval of the checks. Together with the cache time of a token, it keeps the delay of a revocation below 1 s. */
const CHECK_MS = 250;

/** Returns a signal that aborts with a BadCredential when the credential is no longer valid. */
export type RevocationWatch = (request: HttpRequest, reply: HttpReply) => AbortSignal;

/** The requests that share one credential. */
interface Watched {
  authorization: string;
  ends: Set<(fault: BadCredential) => void>;
  /** True while a check of the credential is in progress. */
  isChecking: boolean;
}

export function createRevocationWatch({ findFault }: Authenticator, observe: Observe): RevocationWatch {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  return ({ id, headers: { authorization = '' } }, reply) => {
    if (reply.raw.closed) return AbortSignal.abort(); // the client disconnected during the lookup
    const ended = new AbortController();
    const own = watched.get(authorization) ?? { authorization, ends: new Set(), isChecking: false };
    const end = (fault: BadCredential) => {
      forget(own, end);
      observe({ kind: 'refused', reason: fault.reason, requestId: id, why: 'while the request was in progress' });
      ended.abort(fault);
    };
    own.ends.add(end);
    watched.set(authorization, own);
    timer ??= setInterval(checkAll, CHECK_MS).unref();
    reply.raw.once('close', () => forget(own, end));
    return ended.signal;
  };

  function forget(own: Watched, end: (fault: BadCredential) => void): void {
    own.ends.delete(end);
    if (own.ends.size === 0 && watched.get(own.authorization) === own) watched.delete(own.authorization);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /**
   * Checks all credentials together, so that the database can batch the lookups. Skips those with a check in progress.
   */
  function checkAll(): void {
    for (const own of watched.values()) if (!own.isChecking) void checkOne(own);
  }

  async function checkOne(own: Watched): Promise<void> {
    own.isChecking = true;
    const fault = await findFault(own.authorization);
    own.isChecking = false;
    if (fault) for (const end of own.ends) end(fault);
  }
}
