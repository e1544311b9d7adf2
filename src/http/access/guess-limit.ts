// Guessing is slow: each address may send so many wrong tokens. Then its wrong ones are 429, a little later. Whether a
// token is right is always looked up, so that nobody is locked out by their neighbours.

import { setTimeout as sleep } from 'node:timers/promises';
import { createTokenBuckets, type Rate } from '../../lib/token-bucket.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import { type AddressOf, networkOf } from './client-address.ts';
import { overRate, setLimitHeaders } from './rate-limit.ts';

const WRONG: Rate = { count: 100, periodMs: 10_000 };
const MAX_ADDRESSES = 100_000;
const DELAY_MS = 100;
/** So many wait at once, of all addresses. */
const MAX_WAITING = 1000;

/** Throws `over_rate` when the address has sent too many. */
export type CountGuess = (request: HttpRequest, reply: HttpReply) => Promise<void>;

export function createGuessLimit(addressOf: AddressOf): CountGuess {
  const buckets = createTokenBuckets(MAX_ADDRESSES);
  let waiting = 0;

  return async ({ raw }, reply) => {
    const taken = buckets.take(networkOf(addressOf(raw)), WRONG, performance.now());
    if (taken.granted) return;
    if (waiting < MAX_WAITING) {
      waiting++;
      await sleep(DELAY_MS);
      waiting--;
    }
    setLimitHeaders(reply, 'logins', WRONG, taken);
    throw overRate('Too many wrong tokens came from your address', taken);
  };
}
