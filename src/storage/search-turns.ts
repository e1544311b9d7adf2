// The turns of searches, on either database.

import { unavailable } from '../domain/errors.ts';
import { createSemaphore, type Semaphore } from '../lib/semaphore.ts';

/** Maximum number of searches that a token has queued in a thread. */
export const MAX_QUEUED_SEARCHES = 1000;

export function createSearchTurns(limits: { maxConcurrent: number; waitMs?: number }): Semaphore {
  return createSemaphore({
    ...limits,
    maxQueued: MAX_QUEUED_SEARCHES,
    tooBusy: () => unavailable('Too many searches are queued. Retry later.'),
  });
}
