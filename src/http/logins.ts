// Guessing is slow: of credentials that nobody has seen before, each address may have so many wrong. Then the next ones
// wait for their turn, a right one among them too, and what comes on top is turned away.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import ipaddr from 'ipaddr.js';
import { createBuckets, type Rate, type Taken } from '../rate.ts';
import { BadCredential } from '../token.ts';
import { overRate, tellLimit } from './limits.ts';

const WRONG: Rate = { count: 100, periodMs: 10_000 };
const TURN_MS = WRONG.periodMs / WRONG.count;
const MAX_WAITING = 20;
const MAX_ADDRESSES = 100_000;

export interface Logins {
  /** Without `mayWait`, for what cannot be right, `over_rate` is thrown at once. */
  guard<T>(address: string, reply: FastifyReply, mayWait: boolean, lookUp: () => Promise<T>): Promise<T>;
}

export function createLogins(now: () => number = () => performance.now()): Logins {
  const buckets = createBuckets(MAX_ADDRESSES);
  /** When the last of those that wait has its turn. */
  const lines = new Map<string, { length: number; endMs: number }>();

  return {
    async guard(address, reply, mayWait, lookUp) {
      const key = networkOf(address);
      const taken = buckets.take(key, WRONG, now());
      if (!taken.granted) await waitInLine(key, taken, reply, mayWait);
      try {
        const found = await lookUp();
        buckets.giveBack(key, WRONG);
        return found;
      } catch (error) {
        if (!isGuess(error)) buckets.giveBack(key, WRONG);
        throw error;
      }
    },
  };

  async function waitInLine(key: string, taken: Taken, reply: FastifyReply, mayWait: boolean): Promise<void> {
    const line = lines.get(key) ?? { length: 0, endMs: 0 };
    if (!mayWait || line.length >= MAX_WAITING) {
      tellLimit(reply, 'logins', WRONG, taken);
      throw overRate('Too many wrong tokens came from your address', taken);
    }
    line.length++;
    line.endMs = Math.max(now() + taken.nextMs, line.endMs + TURN_MS);
    lines.set(key, line);
    await sleep(line.endMs - now());
    if (--line.length === 0) lines.delete(key);
    buckets.take(key, WRONG, now());
  }
}

function isGuess(error: unknown): boolean {
  return error instanceof BadCredential && error.reason !== 'expired';
}

/** Whoever has an address of IPv6 has 2^64 of them. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toNormalizedString().split(':').slice(0, 4).join(':');
}
