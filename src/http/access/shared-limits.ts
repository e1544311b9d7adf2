// The state of all limits that hold for the whole process, in memory that its threads share.

import { SharedCount } from '../../lib/shared-count.ts';
import { SharedNumbers } from '../../lib/shared-numbers.ts';

/** Number of tokens, and of addresses, whose rate is known. */
const MAX_BUCKETS = 100_000;
/** Number of addresses and tokens with a count. It exceeds the maximum number of connections. */
const MAX_COUNTED = 50_000;

export interface SharedLimits {
  /** Buckets of the rates of tokens. */
  rates: SharedNumbers;
  /** Buckets of the invalid tokens of addresses. */
  guesses: SharedNumbers;
  /** Number of requests with invalid tokens whose responses are delayed. */
  delayedGuesses: SharedCount;
  /** Numbers of connections, transfers, queued requests and unread bytes: in all, and of an address or a token. */
  counts: SharedNumbers;
  /** Number of body bytes of requests whose credential is being looked up. Slow clients cannot hold it. */
  earlyBytes: SharedCount;
}

/** The memory of the limits, which can be sent to another thread. */
export type LimitsMemory = Record<keyof SharedLimits, SharedArrayBuffer>;

/** Creates the limits, or opens the memory of another thread. */
export function createSharedLimits(memory?: LimitsMemory): SharedLimits {
  return {
    rates: new SharedNumbers(memory?.rates ?? MAX_BUCKETS),
    guesses: new SharedNumbers(memory?.guesses ?? MAX_BUCKETS),
    delayedGuesses: new SharedCount(memory?.delayedGuesses),
    counts: new SharedNumbers(memory?.counts ?? MAX_COUNTED),
    earlyBytes: new SharedCount(memory?.earlyBytes),
  };
}

export function memoryOf(limits: SharedLimits): LimitsMemory {
  const memories = Object.entries(limits).map(([name, { memory }]) => [name, memory]);
  return Object.fromEntries(memories) as LimitsMemory;
}
