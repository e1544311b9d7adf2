// Amounts that all clients share, such as slots for long requests. One credential or address can use a quarter of each.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';

const RETRY_AFTER_S = 5;

/** Returns the maximum amount that one holder can use. */
export function shareOf(most: number): number {
  return most / 4;
}

/** An amount that all threads share. `what` names it, such as "exports". */
export class FairShare {
  readonly #counts: SharedNumbers;
  readonly #most: number;
  readonly #what: string;

  constructor(counts: SharedNumbers, most: number, what: string) {
    this.#counts = counts;
    this.#most = most;
    this.#what = what;
  }

  /** Adds to what a holder and all holders use. Returns the limit that one of them now exceeds, if any. */
  add(holder: string, amount: number): 'share' | 'all' | undefined {
    const own = this.#counts.add(`${this.#what} ${holder}`, amount);
    const all = this.#counts.add(this.#what, amount);
    if (own > shareOf(this.#most)) return 'share';
    return all > this.#most ? 'all' : undefined;
  }
}

/**
 * Returns a function that takes one of the slots of all threads, and returns a function to free it. Throws `unavailable`.
 * `what` names the slots, such as "exports".
 */
export function createSlots(counts: SharedNumbers, slots: number, what: string): () => () => void {
  return () => {
    const free = () => void counts.add(what, -1);
    if (counts.add(what, 1) <= slots) return free;
    free();
    throw tooMany(what);
  };
}

/** Returns a function that does the same for a credential. Throws `over_share` if it uses its share already. */
export function createFairShare(counts: SharedNumbers, slots: number, what: string): (tokenId: string) => () => void {
  const used = new FairShare(counts, slots, what);
  return (tokenId) => {
    const exceeded = used.add(tokenId, 1);
    const free = () => void used.add(tokenId, -1);
    if (!exceeded) return free;
    free();
    if (exceeded === 'all') throw tooMany(what);
    throw overShare(`The token has ${shareOf(slots)} ${what} in progress, a quarter of all slots. Retry later.`);
  };
}

export function overShare(message: string): PlantStoreError {
  return new PlantStoreError('over_share', message, { detail: { retryAfterS: RETRY_AFTER_S } });
}

function tooMany(what: string): PlantStoreError {
  return unavailable(`Too many ${what} are in progress. Retry later.`);
}
