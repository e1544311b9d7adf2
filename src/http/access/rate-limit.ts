// Rate limits per token and per address, and their headers (draft-ietf-httpapi-ratelimit-headers-11).

import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Token } from '../../domain/token.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';
import { type Rate, type TakeResult, takeFromBucket } from '../../lib/token-bucket.ts';
import { type AddressOf, networkOf } from '../core/client-address.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { SharedLimits } from './shared-limits.ts';

/** Maximum rate of invalid tokens from one address. */
export const WRONG: Rate = { count: 100, periodMs: 10_000 };
export const DELAY_MS = 100;
/** Maximum number of concurrently delayed requests, for all addresses. */
const MAX_DELAYED = 1000;

/** Difference between the monotonic clock of the machine, which all threads share, and that of this thread. */
const CLOCK_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * Returns a function that counts a request of a token, sets the rate headers, and throws `over_rate`. `buckets` holds
 * the rates of all threads.
 */
export function createRateLimit(buckets: SharedNumbers) {
  return ({ id, rate }: Token, reply: HttpReply, nowMs: number): void => {
    if (rate === null) return;
    const key = `${id} ${rate.count}/${rate.periodMs}`; // a changed rate starts with a full bucket
    const taken = takeFromBucket(buckets, key, rate, CLOCK_MS + nowMs);
    setLimitHeaders(reply, 'token', rate, taken);
    if (!taken.granted) throw overRate('The token has exceeded its rate', taken);
  };
}

/**
 * Returns a function that counts an invalid token. Above the limit it throws `over_rate` after a delay. Valid tokens
 * always work.
 */
export function createGuessLimit({ guesses, delayedGuesses }: SharedLimits, addressOf: AddressOf) {
  return async ({ raw }: HttpRequest, reply: HttpReply): Promise<void> => {
    const taken = takeFromBucket(guesses, networkOf(addressOf(raw)), WRONG, CLOCK_MS + performance.now());
    if (taken.granted) return;
    if (delayedGuesses.add(1) <= MAX_DELAYED) await sleep(DELAY_MS);
    delayedGuesses.add(-1);
    setLimitHeaders(reply, 'logins', WRONG, taken);
    throw overRate('Your address has sent too many invalid tokens', taken);
  };
}

function setLimitHeaders(reply: HttpReply, name: string, rate: Rate, taken: TakeResult): void {
  reply.header('ratelimit', `"${name}";r=${taken.remaining};t=${secondsOf(taken)}`);
  reply.header('ratelimit-policy', `"${name}";q=${rate.count};w=${rate.periodMs / 1000}`);
}

function overRate(what: string, taken: TakeResult): PlantStoreError {
  const retryAfterS = secondsOf(taken);
  return new PlantStoreError('over_rate', `${what}. Retry in ${retryAfterS} s.`, { detail: { retryAfterS } });
}

function secondsOf({ nextMs }: TakeResult): number {
  return Math.max(1, Math.ceil(nextMs / 1000 - 0.001)); // rounds 12.000000000002 s to 12 s
}
