// Collects the calls of one turn of the event loop into one batch.

/** Returns a function that runs `work` once at the end of the current turn, regardless of the number of calls. */
export function oncePerTurn(work: () => void): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      work();
    });
  };
}
