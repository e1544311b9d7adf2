// What has to hold of the headers of every request, whatever it asks for.

import type { IncomingMessage } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';

/** Node keeps the first of two; a proxy before us may have looked at the other. */
const ONCE = ['host', 'authorization', 'content-type'];

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

function requireOnce(rawHeaders: string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  for (const name of ONCE) {
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      throw new PlantStoreError('malformed_request', `The header ${name} may be sent once only`);
    }
  }
}
