// A bound on how much work runs at once, with a bounded queue before it.

interface SemaphoreOptions {
  maxConcurrent: number;
  maxQueued: number;
  /** Time for which work may be queued. */
  waitMs: number;
  /** Returns what is thrown past either bound. */
  tooBusy(): Error;
}

/** Returns what runs work as soon as there is room for it. */
export function createSemaphore({ maxConcurrent, maxQueued, waitMs, tooBusy }: SemaphoreOptions) {
  const waiting = new Set<() => void>();
  let running = 0;

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < maxConcurrent) running++;
    else if (waiting.size < maxQueued) await nextTurn();
    else throw tooBusy();
    try {
      return await work();
    } finally {
      const [next] = waiting;
      if (next) next();
      else running--;
    }
  };

  /** Takes over the place of one that is done. */
  function nextTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(begin);
        reject(tooBusy());
      }, waitMs);
      waiting.add(begin);

      function begin(): void {
        clearTimeout(timer);
        waiting.delete(begin);
        resolve();
      }
    });
  }
}
