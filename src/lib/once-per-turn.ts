// Collects the calls of one turn of the event loop into one batch.

/** Returns a function that runs `work` once at the end of the current turn, however often it is called in that turn. */
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
