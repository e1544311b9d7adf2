// Slots for long requests, which all clients share. Each credential can use a quarter of them.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';

const RETRY_AFTER_S = 5;

/** Returns the maximum number of slots that one credential can use. */
export function shareOf(slots: number): number {
  return slots / 4;
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
    throw unavailable(`Too many ${what} are in progress. Retry later.`);
  };
}

/** Returns a function that does the same for a credential. Throws `over_share` if it uses its share already. */
export function createFairShare(counts: SharedNumbers, slots: number, what: string): (tokenId: string) => () => void {
  const takeSlot = createSlots(counts, slots, what);
  const most = shareOf(slots);

  return (tokenId) => {
    const key = `${what} ${tokenId}`;
    using own = new DisposableStack();
    own.defer(() => void counts.add(key, -1));
    if (counts.add(key, 1) > most) {
      const message = `The token has ${most} ${what} in progress, a quarter of all slots. Retry later.`;
      throw new PlantStoreError('over_share', message, { detail: { retryAfterS: RETRY_AFTER_S } });
    }
    own.defer(takeSlot());
    const taken = own.move();
    return () => taken.dispose();
  };
}
