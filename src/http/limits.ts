// How often a token may ask, and the headers that tell its owner (draft-ietf-httpapi-ratelimit-headers-11).

import type { FastifyReply } from 'fastify';
import { PlantStoreError } from '../error.ts';
import { createBuckets, type Rate, type Taken } from '../rate.ts';
import type { Token } from '../token.ts';

const MAX_BUCKETS = 100_000;

/** Every answer to a limited token says how much is left. Throws `over_rate`. */
export type CountRequest = (token: Token, reply: FastifyReply) => void;

export function createLimits(now: () => number = () => performance.now()): CountRequest {
  const buckets = createBuckets(MAX_BUCKETS);

  return ({ id, rate }, reply) => {
    if (rate === null) return;
    const taken = buckets.take(id, rate, now());
    tellLimit(reply, 'token', rate, taken);
    if (!taken.granted) throw overRate('The token is over its rate', taken);
  };
}

export function tellLimit(reply: FastifyReply, name: string, rate: Rate, taken: Taken): void {
  reply.header('ratelimit', `"${name}";r=${taken.remaining};t=${secondsOf(taken)}`);
  reply.header('ratelimit-policy', policyOf(name, rate));
}

/** A text that is made anew for each request would cost 1 % of a create. */
const policies = new WeakMap<Rate, string>();

function policyOf(name: string, rate: Rate): string {
  const known = policies.get(rate);
  if (known !== undefined) return known;
  const text = `"${name}";q=${rate.count};w=${rate.periodMs / 1000}`;
  policies.set(rate, text);
  return text;
}

export function overRate(what: string, taken: Taken): PlantStoreError {
  const retryAfterS = secondsOf(taken);
  return new PlantStoreError('over_rate', `${what}: try again in ${retryAfterS} s`, { detail: { retryAfterS } });
}

function secondsOf({ nextMs }: Taken): number {
  return Math.max(1, Math.ceil(nextMs / 1000));
}
