// Limits the number of concurrent tasks, with a bounded queue.

interface SemaphoreOptions {
  maxConcurrent: number;
  maxQueued: number;
  /** Maximum time in the queue. */
  waitMs: number;
  /** Returns the error for a full queue or a timeout in the queue. */
  tooBusy(): Error;
}

/** Returns a function that runs `work` as soon as fewer than `maxConcurrent` tasks are running. */
export function createSemaphore({ maxConcurrent, maxQueued, waitMs, tooBusy }: SemaphoreOptions) {
  const queued = new Set<() => void>();
  let running = 0;

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running < maxConcurrent) running++;
    else if (queued.size < maxQueued) await nextTurn();
    else throw tooBusy();
    try {
      return await work();
    } finally {
      const [next] = queued;
      if (next) next();
      else running--;
    }
  };

  /** Waits until a finished task passes on its slot. */
  function nextTurn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queued.delete(begin);
        reject(tooBusy());
      }, waitMs);
      queued.add(begin);

      function begin(): void {
        clearTimeout(timer);
        queued.delete(begin);
        resolve();
      }
    });
  }
}
