// Requests that take long, such as an event stream, end when the credential that let them in does.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observe } from '../observe.ts';
import { BadCredential } from '../token.ts';
import type { Authenticator } from './auth.ts';

/** Together with the time that a token is trusted for: within 1 s. */
const LOOK_EVERY_MS = 250;

/** Gives what aborts, with a BadCredential, when the credential is no longer good. */
export type Watch = (request: FastifyRequest, reply: FastifyReply) => AbortSignal;

export function createWatch({ isStillGood }: Authenticator, observe: Observe): Watch {
  /** What ends each, by what was sent: many may share one. */
  const watched = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;
  let isLooking = false;

  return ({ id, headers: { authorization = '' } }, reply) => {
    if (reply.raw.closed) return AbortSignal.abort(); // its client went away while it was looked up
    const ended = new AbortController();
    const end = () => {
      const error = new BadCredential('revoked');
      observe({ kind: 'refused', reason: error.reason, requestId: id, why: 'while it was under way' });
      ended.abort(error);
    };
    const sharing = watched.get(authorization) ?? new Set();
    watched.set(authorization, sharing.add(end));
    timer ??= setInterval(look, LOOK_EVERY_MS).unref();
    reply.raw.once('close', () => {
      sharing.delete(end);
      if (sharing.size === 0) watched.delete(authorization);
      if (watched.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    });
    return ended.signal;
  };

  /** All at once, so that a database can be asked for all of them at once; and not again until it has answered. */
  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    await Promise.all([...watched].map(([authorization, sharing]) => lookAt(authorization, sharing)));
    isLooking = false;
  }

  async function lookAt(authorization: string, sharing: Set<() => void>): Promise<void> {
    if (await isStillGood(authorization)) return;
    watched.delete(authorization);
    for (const end of sharing) end();
  }
}
