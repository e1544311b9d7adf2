// A random number generator that repeats its sequence for the same seed (mulberry32).

export interface Random {
  /** Returns a number from 0 up to but not including 1. */
  (): number;
  /** Returns an integer from 0 up to but not including the limit. */
  below(limit: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  const below = (limit: number) => Math.floor(next() * limit);
  return Object.assign(next, { below, pick: <T>(choices: readonly T[]) => choices[below(choices.length)] as T });
}
