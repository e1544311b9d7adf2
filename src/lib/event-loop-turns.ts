// Schedules work that takes some milliseconds: one piece per turn of the event loop, regardless of the number of
// callers. Everything else in the process waits for at most one piece.

/** Length of a piece of work that grows with the data that a client has sent, requested or stored. */
const PIECE_MS = 5;

const waitingForTurn: (() => void)[] = [];

/** Resolves in a turn of the event loop that no other caller shares. It ends at the next `await`. */
export function nextEventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    waitingForTurn.push(resolve);
    if (waitingForTurn.length === 1) setImmediate(next);
  });
}

function next(): void {
  waitingForTurn.shift()?.();
  if (waitingForTurn.length > 0) setImmediate(next);
}

/**
 * Returns a function to await between two steps of work that may be long: `await pace()`. After some milliseconds of
 * work, it waits for another turn of the event loop. Other promises do not end a turn if they are settled already.
 */
export function createPace(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < PIECE_MS) return undefined;
    return nextEventLoopTurn().then(() => {
      sinceMs = performance.now();
    });
  };
}

/** Yields the same items at the pace of the event loop, even if their source and their reader never wait. */
export async function* paced<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const pace = createPace();
  for await (const item of items) {
    yield item;
    await pace();
  }
}
