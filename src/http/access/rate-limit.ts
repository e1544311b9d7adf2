// How often a token may ask, and the headers that tell its owner (draft-ietf-httpapi-ratelimit-headers-11).

import { PlantStoreError } from '../../domain/errors.ts';
import type { Token } from '../../domain/token.ts';
import { createTokenBuckets, type Rate, type TakeResult } from '../../lib/token-bucket.ts';
import type { HttpReply } from '../core/request-reply.ts';

const MAX_BUCKETS = 100_000;

/** Every answer to a limited token says how much is left. Throws `over_rate`. */
export type TakeFromRate = (token: Token, reply: HttpReply, nowMs: number) => void;

export function createRateLimit(): TakeFromRate {
  const buckets = createTokenBuckets(MAX_BUCKETS);

  return ({ id, rate }, reply, nowMs) => {
    if (rate === null) return;
    const taken = buckets.take(id, rate, nowMs);
    setLimitHeaders(reply, 'token', rate, taken);
    if (!taken.granted) throw overRate('The token is over its rate', taken);
  };
}

export function setLimitHeaders(reply: HttpReply, name: string, rate: Rate, taken: TakeResult): void {
  reply.header('ratelimit', `"${name}";r=${taken.remaining};t=${secondsOf(taken)}`);
  reply.header('ratelimit-policy', `"${name}";q=${rate.count};w=${rate.periodMs / 1000}`);
}

export function overRate(what: string, taken: TakeResult): PlantStoreError {
  const retryAfterS = secondsOf(taken);
  return new PlantStoreError('over_rate', `${what}: try again in ${retryAfterS} s`, { detail: { retryAfterS } });
}

function secondsOf({ nextMs }: TakeResult): number {
  return Math.max(1, Math.ceil(nextMs / 1000));
}
