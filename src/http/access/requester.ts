// The client of a request, for which the store searches.

import type { Token } from '../../domain/token.ts';
import type { Requester } from '../../lib/semaphore.ts';
import type { HttpReply } from '../core/request-reply.ts';
import { DISCONNECTED } from './revocation-watch.ts';

/** Returns the client of a request. It is gone when the response is complete or the connection is closed. */
export function requesterOf({ id }: Token, { raw }: HttpReply): Requester {
  if (raw.closed) return { id, signal: AbortSignal.abort(DISCONNECTED) };
  const gone = new AbortController();
  raw.once('close', () => gone.abort(DISCONNECTED));
  return { id, signal: gone.signal };
}
