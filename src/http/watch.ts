// Requests that take long, such as an event stream, end when the credential that let them in does.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { BadCredential } from '../token.ts';
import type { Authenticator } from './auth.ts';

/** Together with the time that a token is trusted for: within 1 s. */
const LOOK_EVERY_MS = 250;

/** Gives what aborts, with a BadCredential, when the credential is no longer good. */
export type Watch = (request: FastifyRequest, reply: FastifyReply) => AbortSignal;

export function createWatch({ isStillGood }: Authenticator): Watch {
  /** By what was sent: many may share one. */
  const watched = new Map<string, Set<AbortController>>();
  let timer: NodeJS.Timeout | undefined;

  return ({ headers: { authorization = '' } }, reply) => {
    const ended = new AbortController();
    if (reply.raw.closed) return AbortSignal.abort(); // its client went away while it was looked up
    const sharing = watched.get(authorization) ?? new Set();
    watched.set(authorization, sharing.add(ended));
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
    reply.raw.once('close', () => {
      sharing.delete(ended);
      if (sharing.size === 0) watched.delete(authorization);
      if (watched.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    return ended.signal;
  };

  function look(): void {
    for (const [authorization, sharing] of watched) {
      void isStillGood(authorization).then((isGood) => {
        if (isGood) return;
        watched.delete(authorization);
        for (const ended of sharing) ended.abort(new BadCredential('revoked'));
      });
    }
  }
}
