// Slots for long requests, which all clients share. Each credential can use a quarter of them.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';

export const RETRY_AFTER_S = 5;

/** Returns the maximum number of slots that one credential can use. */
export function shareOf(slots: number): number {
  return slots / 4;
}

/**
 * Returns a function that takes a slot and returns a function to free it. Throws `over_share`, or `unavailable` if all
 * slots are taken. `what` names the slots, such as "exports", and `counts` those of all threads.
 */
export function createFairShare(counts: SharedNumbers, slots: number, what: string): (tokenId: string) => () => void {
  const most = shareOf(slots);

  return (tokenId) => {
    const own = `${what} ${tokenId}`;
    if (counts.add(own, 1) > most) {
      counts.add(own, -1);
      const message = `The token has ${most} ${what} in progress, a quarter of all slots. Retry later.`;
      throw new PlantStoreError('over_share', message, { detail: { retryAfterS: RETRY_AFTER_S } });
    }
    if (counts.add(what, 1) > slots) {
      free();
      throw unavailable(`Too many ${what} are in progress. Retry later.`);
    }
    return free;

    function free(): void {
      counts.add(own, -1);
      counts.add(what, -1);
    }
  };
}
