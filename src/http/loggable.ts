// The path of a request as others may see it: in the log, in a trace.

import { decode, pathOf } from './paths.ts';

const JWT = /^[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;

/** Without what may be a secret: the query, a user's name and password, a token in the wrong place. */
export function loggable(url: string): string {
  const segments = pathOf(url).split('/');
  return segments.map((segment) => (holdsSecret(segment) ? '…' : segment)).join('/');
}

/** A token anywhere in it, a JWT, or what cannot be read. */
function holdsSecret(segment: string): boolean {
  const text = decode(segment);
  const isUnread = text === segment && segment.includes('%');
  return isUnread || text.includes('pst_') || text.split(/[^\w.-]+/).some((word) => JWT.test(word));
}
