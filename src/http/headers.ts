// What has to hold of the headers of every request, whatever it asks for.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PlantStoreError } from '../error.ts';

const SANE_REQUEST_ID = /^(?!.*pst_)[A-Za-z0-9._:/+=-]{1,128}$/; // a secret must not get into the log this way
/** Node keeps the first of two; a proxy before us may have looked at the other. */
const ONCE = new Set(['host', 'authorization', 'content-type']);

/** The client's own, if it sent a sane one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SANE_REQUEST_ID.test(own) ? own : randomUUID();
}

export function requireSoundHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!ONCE.has(name)) continue;
    if (seen.has(name)) throw new PlantStoreError('malformed_request', `The header ${name} may be sent once only`);
    seen.add(name);
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new PlantStoreError('malformed_request', 'The header host is missing');
  }
}
