// Schedules work that takes some milliseconds: one piece per turn of the event loop, regardless of the number of
// callers. Everything else in the process waits for at most one piece.

import { FairQueue } from './fair-queue.ts';

/** Length of a piece of work that grows with the data that a client has sent, requested or stored. */
const PIECE_MS = 5;

const waitingForTurn = new FairQueue<() => void>();

/**
 * Resolves in a turn of the event loop that no other caller shares. It ends at the next `await`. The callers of different
 * holders alternate, such as the requests of different tokens.
 */
export function nextEventLoopTurn(holder = ''): Promise<void> {
  return new Promise((resolve) => {
    if (waitingForTurn.isEmpty) setImmediate(next);
    waitingForTurn.add(holder, resolve);
  });
}

function next(): void {
  waitingForTurn.take()?.();
  if (!waitingForTurn.isEmpty) setImmediate(next);
}

/**
 * Returns a function to await between two steps of work that may be long: `await pace()`. After some milliseconds of
 * work, it waits for another turn of the event loop. Other promises do not end a turn if they are settled already.
 */
export function createPace(holder?: string): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < PIECE_MS) return undefined;
    return nextEventLoopTurn(holder).then(() => {
      sinceMs = performance.now();
    });
  };
}

/** Yields the same items at the pace of the event loop, even if their source and their reader never wait. */
export async function* paced<T>(items: AsyncIterable<T>, holder?: string): AsyncGenerator<T> {
  const pace = createPace(holder);
  for await (const item of items) {
    yield item;
    await pace();
  }
}
