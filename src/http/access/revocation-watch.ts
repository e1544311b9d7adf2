// Requests that take long, such as an event stream, end when the credential that let them in does.

import type { BadCredential } from '../../domain/token.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { Authenticator } from './authenticator.ts';

/** Together with the time that a token is trusted for: within 1 s. */
const CHECK_MS = 250;

/** Gives what aborts, with a BadCredential, when the credential is no longer good. */
export type RevocationWatch = (request: HttpRequest, reply: HttpReply) => AbortSignal;

/** All requests with one credential. */
interface Watched {
  authorization: string;
  ends: Set<(fault: BadCredential) => void>;
  /** The answer to the last checkAll is not here yet. */
  isChecking: boolean;
}

export function createRevocationWatch({ findFault }: Authenticator, observe: Observe): RevocationWatch {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  return ({ id, headers: { authorization = '' } }, reply) => {
    if (reply.raw.closed) return AbortSignal.abort(); // its client went away while it was looked up
    const ended = new AbortController();
    const own = watched.get(authorization) ?? { authorization, ends: new Set(), isChecking: false };
    const end = (fault: BadCredential) => {
      forget(own, end);
      observe({ kind: 'refused', reason: fault.reason, requestId: id, why: 'while it was under way' });
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

  /** All at once, so that a database can be asked for all of them at once; each again only when it has its answer. */
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
