// The path of a request as others may see it: in the log, in a trace.

import { mayHoldSecret } from '../../domain/token-secret.ts';
import { decode, pathOf } from './router.ts';

/** Without what may be a secret: the query, a user's name and password, a token in the wrong place. */
export function redactPath(url: string): string {
  const isElsewhere = !url.startsWith('/') || url.startsWith('//');
  if (isElsewhere && (url.includes('@') || mayHoldSecret(url))) return '…'; // a password, which may have a slash in it
  const segments = pathOf(url).split('/');
  const first = segments.findIndex(isHidden);
  return first === -1 ? segments.join('/') : [...segments.slice(0, first), '…'].join('/'); // some hold a slash themselves
}

/** Also what cannot be read. */
function isHidden(segment: string): boolean {
  const text = decode(segment);
  return text.includes('%') || mayHoldSecret(text); // what is encoded twice is not read either
}
