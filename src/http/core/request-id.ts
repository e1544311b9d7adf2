// The id by which the log and the client name a request.

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { mayHoldSecret } from '../../domain/token-secret.ts';

const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** UUIDs that begin alike: one of random digits for each would cost a create 1.5 %. */
export function createRequestIds() {
  const start = randomUUID().slice(0, 24);
  let count = 0;

  return {
    /** Returns the client's own id, if it sent a sane one; a secret must not get into the log this way. */
    of({ 'x-request-id': own }: IncomingHttpHeaders): string {
      return typeof own === 'string' && SANE_REQUEST_ID.test(own) && !mayHoldSecret(own) ? own : next();
    },
    next,
  };

  function next(): string {
    return start + (++count).toString(16).padStart(12, '0');
  }
}
