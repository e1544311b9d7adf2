// Schedules work that takes some milliseconds: one piece per turn of the event loop, regardless of the number of
// callers. Everything else in the process waits for at most one piece.

/** Length of a slice of work that grows with the data that a client has sent or stored. */
const SLICE_MS = 5;

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

/** Slices of a longer computation. */
export type TimeSlices = ReturnType<typeof createTimeSlices>;

/** Returns time slices. The first slice starts now. */
export function createTimeSlices(sliceMs = SLICE_MS) {
  let startedMs = performance.now();
  return {
    /** True if the current slice has used up its time. */
    isOver: () => performance.now() - startedMs > sliceMs,
    /** Resolves in another turn of the event loop, in which the next slice starts. */
    async next(): Promise<void> {
      await nextEventLoopTurn();
      startedMs = performance.now();
    },
  };
}
