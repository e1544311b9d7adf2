// Content negotiation by the header Accept (RFC 9110 §12.5.1).

import type { IncomingHttpHeaders } from 'node:http';

/**
 * Returns the type of `ours` that the client prefers. Returns the first one if it has no preference or accepts none.
 */
export function preferredType<Type extends string>(
  { accept = '*/*' }: IncomingHttpHeaders,
  ours: [Type, ...Type[]],
): Type {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((part) => part.startsWith('q='));
    return { type, quality: quality ? Number(quality.slice(2)) : 1 };
  });
  let best: Type = ours[0];
  let bestQuality = 0;
  for (const own of ours) {
    const matching = [own, `${own.split('/')[0]}/*`, '*/*'].map((type) => ranges.find((range) => range.type === type));
    const quality = matching.find((range) => range !== undefined)?.quality ?? 0;
    if (quality > bestQuality) {
      best = own;
      bestQuality = quality;
    }
  }
  return best;
}
