// Turns of the event loop for work that takes some milliseconds: one piece of it in each, however many there are who have
// some, so that all else that waits does so for one of them only.

/** Work that grows with what a client has sent or stored is done in slices of this length. */
const SLICE_MS = 5;

const waitingForTurn: (() => void)[] = [];

/** What is done until the next `await` is done in a turn of its own. */
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

export type TimeSlices = ReturnType<typeof createTimeSlices>;

/** The first slice begins now. */
export function createTimeSlices(sliceMs = SLICE_MS) {
  let begunMs = performance.now();
  return {
    isOver: () => performance.now() - begunMs > sliceMs,
    /** Resolves in a turn of its own, in which the next slice begins. */
    async next(): Promise<void> {
      await nextEventLoopTurn();
      begunMs = performance.now();
    },
  };
}
