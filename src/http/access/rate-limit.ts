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
  reply.header('ratelimit', limitOf(name, taken.remaining, secondsOf(taken)));
  reply.header('ratelimit-policy', policyOf(name, rate));
}

// Texts that are made anew for each request would cost 2 % of a create.
let lastLimit = { name: '', remaining: 0, seconds: 0, text: '' };
const policies = new WeakMap<Rate, string>();

function limitOf(name: string, remaining: number, seconds: number): string {
  const { name: lastName, remaining: lastRemaining, seconds: lastSeconds, text } = lastLimit;
  if (name === lastName && remaining === lastRemaining && seconds === lastSeconds) return text;
  lastLimit = { name, remaining, seconds, text: `"${name}";r=${remaining};t=${seconds}` };
  return lastLimit.text;
}

function policyOf(name: string, rate: Rate): string {
  const known = policies.get(rate);
  if (known !== undefined) return known;
  const text = `"${name}";q=${rate.count};w=${rate.periodMs / 1000}`;
  policies.set(rate, text);
  return text;
}

export function overRate(what: string, taken: TakeResult): PlantStoreError {
  const retryAfterS = secondsOf(taken);
  return new PlantStoreError('over_rate', `${what}: try again in ${retryAfterS} s`, { detail: { retryAfterS } });
}

function secondsOf({ nextMs }: TakeResult): number {
  return Math.max(1, Math.ceil(nextMs / 1000));
}
