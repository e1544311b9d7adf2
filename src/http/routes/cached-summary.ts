// Reads the summary of the store for all clients. Counting a large store is slow, so its result is shared.

import { unavailable } from '../../domain/errors.ts';
import type { PlantStore } from '../../domain/plant.ts';
import type { Summary } from '../../domain/plant-summary.ts';

export const SUMMARY_KEPT_MS = 5000;
/** A result is kept for at least this multiple of the time that the work took. */
const TIMES_AS_LONG = 20;

export type ReadSummary = () => Promise<Summary>;

/** Returns a function that returns the summary, which can be a few seconds old. */
export function createSummaryReader(store: Pick<PlantStore, 'summary'>): ReadSummary {
  return createCachedResult(SUMMARY_KEPT_MS, () => store.summary());
}

/** Returns a function that shares work in progress, and its result for at least `keepMs`. Failures are not kept. */
export function createCachedResult<T>(keepMs: number, work: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let untilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (latest && performance.now() < untilMs) return latest;
    const startedMs = performance.now();
    untilMs = Number.POSITIVE_INFINITY;
    latest = work();
    latest.then(
      () => (untilMs = performance.now() + Math.max(keepMs, TIMES_AS_LONG * (performance.now() - startedMs))),
      () => (latest = undefined),
    );
    return latest;
  };
}

/** Returns a function that rejects as soon as the service stops, because counting can take longer than a stop may. */
export function unlessStopping<T>(work: () => Promise<T>, stopping: AbortSignal): () => Promise<T> {
  return async () => {
    const stopped = Promise.withResolvers<never>();
    const stop = () => stopped.reject(unavailable('The service is stopping. Retry later.'));
    stopping.addEventListener('abort', stop);
    try {
      if (stopping.aborted) stop();
      return await Promise.race([work(), stopped.promise]);
    } finally {
      stopping.removeEventListener('abort', stop);
    }
  };
}
