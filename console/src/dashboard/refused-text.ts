// Why the server refused requests, in plain words.

import type { ServiceStatus } from 'plant-store/client';
import { number } from '../shared/numbers.ts';

type Refused = ServiceStatus['refused'];

const MAIN_REASONS = 2;

const WORDS: Record<keyof Refused, string> = {
  no_credentials: 'without a token',
  malformed: 'mistyped token',
  unknown: 'wrong token',
  expired: 'expired token',
  revoked: 'revoked token',
  bad_jwt: 'invalid JWT',
  no_key: 'JWT with unknown key',
  too_many_wrong: 'too many wrong tokens',
  scope: 'scope missing',
  rate: 'over rate',
  share: 'over share',
};

export function refusedTotal(refused: Refused): number {
  return Object.values(refused).reduce((sum, requests) => sum + requests, 0);
}

/** Returns the main reasons: "31 over rate, 6 wrong token". Empty if no request was refused. */
export function refusedReasons(refused: Refused): string {
  const reasons = (Object.keys(WORDS) as (keyof Refused)[]).filter((reason) => refused[reason] > 0);
  const sorted = reasons.sort((a, b) => refused[b] - refused[a]);
  const main = sorted.slice(0, MAIN_REASONS).map((reason) => `${number(refused[reason])} ${WORDS[reason]}`);
  if (sorted.length > MAIN_REASONS) main.push('others');
  return main.join(', ');
}
