// The path of a request as others may see it: in the log, in a trace.

import { mayHoldSecret } from '../secret.ts';
import { decode, pathOf } from './paths.ts';

/** Without what may be a secret: the query, a user's name and password, a token in the wrong place. */
export function loggable(url: string): string {
  const segments = pathOf(url).split('/');
  return segments.map((segment) => (isHidden(segment) ? '…' : segment)).join('/');
}

/** Also what cannot be read. */
function isHidden(segment: string): boolean {
  const text = decode(segment);
  const isUnread = text === segment && segment.includes('%');
  return isUnread || mayHoldSecret(text);
}
