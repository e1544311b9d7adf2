// Work that takes a while, done once for all who ask for it within some time.

/** What took long is kept for so many times as long. */
const TIMES_AS_LONG = 20;

/** Gives what is under way, or was done less than `keepMs` ago. What failed is not kept. */
export function createCachedResult<T>(keepMs: number, work: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let untilMs = Number.POSITIVE_INFINITY;

  return () => {
    if (latest && performance.now() < untilMs) return latest;
    const begunMs = performance.now();
    untilMs = Number.POSITIVE_INFINITY;
    latest = work();
    latest.then(
      () => (untilMs = performance.now() + Math.max(keepMs, TIMES_AS_LONG * (performance.now() - begunMs))),
      () => (latest = undefined),
    );
    return latest;
  };
}
