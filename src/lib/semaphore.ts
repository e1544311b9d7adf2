// Limits the number of concurrent tasks. Requesters take turns: a task waits for parts of tasks in progress, however many
// tasks another requester has queued.

import { nextEventLoopTurn } from './event-loop-turns.ts';
import { FairQueue } from './fair-queue.ts';

/** Maximum number of tasks of one requester that have begun and take turns. The others begin as these end. */
const MAX_BEGUN = 4;

interface SemaphoreOptions {
  maxConcurrent: number;
  /** Maximum number of tasks that one requester has queued. */
  maxQueued: number;
  /** Maximum time in the queue, if any. */
  waitMs?: number;
  /** Returns the error for a full queue or a timeout in the queue. */
  tooBusy(): Error;
}

/** The client that a task is for. */
export interface Requester {
  /** Tasks with the same id share the turns of one requester. */
  id?: string | undefined;
  /** Aborts when nobody needs the result any more. The task then leaves the queue, or ends after its current part. */
  signal?: AbortSignal;
}

/** The turns of a task, which consists of parts. */
export interface Turns {
  /** True if the current part should end. */
  isOver(): boolean;
  /** Must be called before each part. Lets the queued tasks of others go first. Throws the reason of `signal`. */
  next(): Promise<void>;
}

export type Semaphore = ReturnType<typeof createSemaphore>;

/** Returns a function that runs `work` as soon as fewer than `maxConcurrent` tasks are running. */
export function createSemaphore({ maxConcurrent, maxQueued, waitMs, tooBusy }: SemaphoreOptions) {
  const queued = new FairQueue<() => void>();
  let running = 0;

  return async <T>(work: (turns: Turns) => Promise<T>, { id = '', signal }: Requester = {}): Promise<T> => {
    signal?.throwIfAborted();
    if (running < maxConcurrent) running++;
    else if (queued.lengthOf(id) < maxQueued) await nextTurn(id, signal);
    else throw tooBusy();
    let isRunning = true;
    let hasBegun = false;
    try {
      return await work({
        isOver: () => !queued.isEmpty || signal?.aborted === true,
        async next() {
          signal?.throwIfAborted(); // before it waits: an abort of the past wakes nobody
          if (hasBegun && !queued.isEmpty) {
            isRunning = false;
            const turn = nextTurn(id, signal, MAX_BEGUN - 1);
            passOn(id);
            await turn;
            isRunning = true;
          }
          hasBegun = true;
          await nextEventLoopTurn();
          signal?.throwIfAborted();
        },
      });
    } finally {
      if (isRunning) passOn(id);
    }
  };

  /** Waits in the queue, by default at its end, until another task passes on its slot. */
  function nextTurn(id: string, signal: AbortSignal | undefined, place = Number.POSITIVE_INFINITY): Promise<void> {
    return new Promise((resolve, reject) => {
      queued.add(id, begin, place);
      const timer = waitMs === undefined ? undefined : setTimeout(() => leave(tooBusy()), waitMs);
      const abort = () => leave(signal?.reason);
      signal?.addEventListener('abort', abort);

      function begin(): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        resolve();
      }
      function leave(reason: unknown): void {
        reject(reason);
        begin();
        queued.remove(id, begin);
      }
    });
  }

  /** Passes the slot of a requester's task to the next requester. */
  function passOn(id: string): void {
    queued.postpone(id);
    const begin = queued.take();
    if (begin) begin();
    else running--;
  }
}
