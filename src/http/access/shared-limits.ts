// The state of all limits that hold for the whole process, in memory that its threads share.

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
  /** Numbers of connections, imports, exports and tests in progress: in all, and of an address or a token. */
  counts: SharedNumbers;
}

/** The memory of the limits, which can be sent to another thread. */
export type LimitsMemory = Record<keyof SharedLimits, SharedArrayBuffer>;

/** Creates the limits, or opens the memory of another thread. */
export function createSharedLimits(memory?: LimitsMemory): SharedLimits {
  return {
    rates: new SharedNumbers(memory?.rates ?? MAX_BUCKETS),
    guesses: new SharedNumbers(memory?.guesses ?? MAX_BUCKETS),
    counts: new SharedNumbers(memory?.counts ?? MAX_COUNTED),
  };
}

export function memoryOf({ rates, guesses, counts }: SharedLimits): LimitsMemory {
  return { rates: rates.memory, guesses: guesses.memory, counts: counts.memory };
}
