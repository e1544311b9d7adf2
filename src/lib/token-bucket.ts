// Implements rate limits such as 100/s with token buckets. A bucket holds the requests of one period and refills
// steadily.

import type { SharedNumbers } from './shared-numbers.ts';

const PERIOD_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };
export const MAX_COUNT = 1_000_000;

/** A rate limit: `count` requests per period. */
export interface Rate {
  count: number;
  periodMs: number;
}

/** Description of a valid rate, for error messages. */
export const RATE_FORM = `a number, at most ${MAX_COUNT}, per second, minute or hour: 100/s, 600/m, 5000/h`;

/** Returns the rate, or undefined if the text is not a rate. */
export function parseRate(text: string): Rate | undefined {
  const [, digits, unit = ''] = /^([1-9]\d{0,6})\/([smh])$/.exec(text) ?? [];
  const [count, periodMs] = [Number(digits), PERIOD_MS[unit]];
  return periodMs !== undefined && count <= MAX_COUNT ? { count, periodMs } : undefined;
}

/** Returns the text of a rate, such as `100/s`. */
export function printRate({ count, periodMs }: Rate): string {
  return `${count}/${Object.keys(PERIOD_MS).find((unit) => PERIOD_MS[unit] === periodMs)}`;
}

/** The result of a request against a rate limit. */
export interface TakeResult {
  /** False if the bucket was empty. */
  granted: boolean;
  /** Number of requests that the bucket still grants now. */
  remaining: number;
  /** Time until the bucket grants one more request. */
  nextMs: number;
}

/**
 * Takes a request from the bucket of a key. `fullAtMs` holds the time at which each bucket is full again, which is the
 * whole state of a bucket. So a bucket that is full, or will be first, is the one to forget.
 */
export function takeFromBucket(fullAtMs: SharedNumbers, key: string, rate: Rate, nowMs: number): TakeResult {
  const stepMs = rate.periodMs / rate.count;
  let granted = false;
  const fullMs = fullAtMs.update(key, (knownMs) => {
    const nextMs = Math.max(knownMs, nowMs) + stepMs;
    granted = nextMs - nowMs <= rate.periodMs + stepMs / 1000;
    return granted ? nextMs : knownMs;
  });
  return toResult(granted, fullMs - nowMs, rate);
}

function toResult(granted: boolean, missingMs: number, { count, periodMs }: Rate): TakeResult {
  const stepMs = periodMs / count;
  const missing = Math.ceil(missingMs / stepMs - 0.001);
  return { granted, remaining: Math.max(0, count - missing), nextMs: missingMs - Math.max(0, missing - 1) * stepMs };
}
