// Limits each credential to a quarter of the slots that all clients share.

import { PlantStoreError } from '../../domain/errors.ts';

export const RETRY_AFTER_S = 5;

/** Returns the maximum number of slots that one credential can use. */
export function shareOf(slots: number): number {
  return slots / 4;
}

/**
 * Returns a function that takes a slot and returns a function to free it. Throws `over_share`. `what` names the slots,
 * such as "exports".
 */
export function createFairShare(slots: number, what: string): (tokenId: string) => () => void {
  const most = shareOf(slots);
  const used = new Map<string, number>();

  return (tokenId) => {
    const own = used.get(tokenId) ?? 0;
    if (own >= most) {
      const message = `The token has ${most} ${what} in progress, a quarter of all slots. Retry later.`;
      throw new PlantStoreError('over_share', message, { detail: { retryAfterS: RETRY_AFTER_S } });
    }
    used.set(tokenId, own + 1);
    return () => {
      const left = (used.get(tokenId) ?? 0) - 1;
      if (left > 0) used.set(tokenId, left);
      else used.delete(tokenId);
    };
  };
}
