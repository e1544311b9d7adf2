// Keeps what a process must undo before it ends, such as a hidden cursor or an incomplete file, however it ends. Only
// SIGKILL and a power cut prevent it.

const pending = new Set<() => void>();
process.on('exit', undoAll);

/** Registers what to undo at the end of the process. Returns a function that undoes it now. It is undone once. */
export function undoAtEnd(undo: () => void): () => void {
  const undoOnce = () => {
    if (pending.delete(undoOnce)) undo();
  };
  pending.add(undoOnce);
  return undoOnce;
}

/** Undoes everything now. A process must call it before a signal ends it, because a signal emits no `exit`. */
export function undoAll(): void {
  for (const undo of pending) {
    try {
      undo();
    } catch {
      // The others must still be undone.
    }
  }
}
