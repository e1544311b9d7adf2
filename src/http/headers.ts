// What has to hold of the headers of every request, whatever it asks for.

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PlantStoreError } from '../error.ts';

const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/** The client's own, if it sent a sane one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SANE_REQUEST_ID.test(own) ? own : randomUUID();
}

/** Node keeps the first of two Host or Authorization headers; a proxy before us may have looked at the other. */
export function requireSoundHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  let authorizations = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++;
  }
  if (hosts > 1) throw new PlantStoreError('malformed_request', 'The header Host may be sent once only');
  if (authorizations > 1)
    throw new PlantStoreError('malformed_request', 'The header Authorization may be sent once only');
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new PlantStoreError('malformed_request', 'The header Host is missing');
  }
}
