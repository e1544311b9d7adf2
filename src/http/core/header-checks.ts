// What has to hold of the headers of every request, whatever it asks for.

import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';
import { mayHoldSecret } from '../../domain/token-secret.ts';
import type { Reply } from './request-reply.ts';

const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;
/** Node keeps the first of two; a proxy before us may have looked at the other. */
const ONCE = ['host', 'authorization', 'content-type'];

/** Ours are UUIDs that begin alike: one of random digits for each would cost a create 1.5 %. */
const OWN_ID_START = randomUUID().slice(0, 24);
let ownIds = 0;

/** The client's own, if it sent a sane one; a secret must not get into the log this way. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const own = headers['x-request-id'];
  return typeof own === 'string' && SANE_REQUEST_ID.test(own) && !mayHoldSecret(own) ? own : nextId();
}

export function nextId(): string {
  return OWN_ID_START + (++ownIds).toString(16).padStart(12, '0');
}

export function requireSoundHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length !== 2 * Object.keys(headers).length) requireOnce(rawHeaders); // some name came twice
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new PlantStoreError('malformed_request', 'Not HTTP/1.1 or HTTP/1.0'); // nothing where the version should be is 0.9
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new PlantStoreError('malformed_request', 'The only Transfer-Encoding that is taken is chunked');
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new PlantStoreError('malformed_request', 'The header host is missing');
  }
}

export function addVary(reply: Reply, name: string): void {
  const { vary: others } = reply.headers;
  reply.header('vary', others === undefined ? name : `${others}, ${name}`);
}

function requireOnce(rawHeaders: string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  for (const name of ONCE) {
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      throw new PlantStoreError('malformed_request', `The header ${name} may be sent once only`);
    }
  }
}
