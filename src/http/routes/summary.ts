// GET /plants/summary: what is in the store at a glance, for those who look at it rather than for programs.

import { unavailable } from '../../domain/errors.ts';
import type { PlantStore } from '../../domain/plant.ts';
import { Summary } from '../../domain/plant-summary.ts';
import { createCachedResult } from '../../lib/cached-result.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

const KEPT_MS = 5000;

export function summaryRoute(store: PlantStore, stopping: AbortSignal): Route {
  const cachedSummary = createCachedResult(KEPT_MS, () => store.summary());

  return route('GET /plants/summary', 'getSummary', 'plants:read', {
    summary: 'Count plants, tags and changes',
    description: `All of one moment, which may be ${KEPT_MS / 1000} s ago, or longer where there is very much to count.`,
    response: { description: 'The counts', schema: Summary, headers: NO_STORE },
    handle: () => unlessStopping(cachedSummary(), stopping),
  });
}

/** Counting may take longer than a stop has time for. */
async function unlessStopping<T>(work: Promise<T>, stopping: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(unavailable('The service is stopping'));
  stopping.addEventListener('abort', stop);
  try {
    if (stopping.aborted) stop();
    return await Promise.race([work, stopped.promise]);
  } finally {
    stopping.removeEventListener('abort', stop);
  }
}
