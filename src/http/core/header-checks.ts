// Checks of the headers of every request.

import type { IncomingMessage } from 'node:http';
import { PlantStoreError } from '../../domain/errors.ts';

/** Headers that may appear only once. Node keeps the first of two, but a proxy may have used the other. */
const ONCE = ['host', 'authorization', 'content-type'];

export function requireSoundHeaders({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  if (rawHeaders.length !== 2 * Object.keys(headers).length) requireOnce(rawHeaders); // at least one name is repeated
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    throw new PlantStoreError('malformed_request', 'The HTTP version must be 1.1 or 1.0'); // a missing version means 0.9
  }
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw new PlantStoreError('malformed_request', 'The Transfer-Encoding must be chunked');
  }
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new PlantStoreError('malformed_request', 'The header Host is missing');
  }
}

function requireOnce(rawHeaders: string[]): void {
  const names = rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  for (const name of ONCE) {
    if (names.indexOf(name) !== names.lastIndexOf(name)) {
      throw new PlantStoreError('malformed_request', `The header ${name} must not be repeated`);
    }
  }
}
