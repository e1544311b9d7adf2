// Reads the summary of the store for all clients. Counting a large store is slow, so its result is shared, and a request
// does not wait for it to the end.

import { unavailable } from '../../domain/errors.ts';
import type { PlantStore } from '../../domain/plant.ts';
import type { Summary } from '../../domain/plant-summary.ts';

export const SUMMARY_KEPT_MS = 5000;
/** A result is kept for at least this multiple of the time that the work took. */
const TIMES_AS_LONG = 20;
/** Maximum time that requests wait for work, from its start. After that they get the last result, or 503. */
const WAIT_MS = 15_000;

export type ReadSummary = () => Promise<Summary>;

/** Returns a function that returns the summary, which can be a few seconds old. */
export function createSummaryReader(store: Pick<PlantStore, 'summary'>): ReadSummary {
  return createCachedResult({ keepMs: SUMMARY_KEPT_MS, waitMs: WAIT_MS }, () => store.summary());
}

/**
 * Returns a function that shares work in progress, and its result for at least `keepMs`. After a failure, it starts the
 * work again once as much time has passed as the work took.
 */
export function createCachedResult<T>(
  { keepMs, waitMs }: { keepMs: number; waitMs: number },
  work: () => Promise<T>,
): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let untilMs = 0;
  let known: { result: T } | undefined;

  return () => {
    if (latest && performance.now() < untilMs) return latest;
    const startedMs = performance.now();
    untilMs = Number.POSITIVE_INFINITY;
    const late = Promise.withResolvers<T>();
    const timer = setTimeout(() => (known ? late.resolve(known.result) : late.reject(stillCounting())), waitMs).unref();
    const working = work().finally(() => clearTimeout(timer));
    latest = Promise.race([working, late.promise]);
    working.then(
      (result) => {
        known = { result };
        latest = working;
        untilMs = performance.now() + Math.max(keepMs, TIMES_AS_LONG * (performance.now() - startedMs));
      },
      () => (untilMs = 2 * performance.now() - startedMs),
    );
    return latest;
  };

  function stillCounting() {
    return unavailable('The plants of this large store are still being counted. Retry in a minute.');
  }
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
