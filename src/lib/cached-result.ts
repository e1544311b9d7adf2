// Shares the result of slow work among all callers within a period.

/** A result is kept for at least this multiple of the time that the work took. */
const TIMES_AS_LONG = 20;

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
