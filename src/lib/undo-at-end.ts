// Keeps what a process must undo before it ends, such as a hidden cursor or an incomplete file, however it ends. Only
// SIGKILL and a power cut prevent it.

/** Signals that ask a command to end. The last one is that of Ctrl-\. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

const pending = new Set<() => void>();
let isListening = false;

/**
 * Registers what to undo at the end of the process. Returns a function that undoes it now. It is undone once. A failure is
 * ignored: the rest must still be undone, and the command reports why it ends.
 */
export function undoAtEnd(undo: () => void): () => void {
  if (!isListening) {
    process.on('exit', undoAll);
    for (const signal of END_SIGNALS) process.on(signal, endUnlessHandled);
    isListening = true;
  }
  const undoOnce = () => {
    if (!pending.delete(undoOnce)) return;
    try {
      undo();
    } catch {}
  };
  pending.add(undoOnce);
  return undoOnce;
}

/** Undoes everything now. */
export function undoAll(): void {
  for (const undoOnce of pending) undoOnce();
}

/** Ends the process by the signal. Unlike process.exit(), it does not wait for threads, and a shell detects it. */
export function endBySignal(signal: NodeJS.Signals): void {
  undoAll(); // a signal emits no `exit`
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Ends the process by the signal as it would without this file, unless the command has a listener of its own. */
function endUnlessHandled(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) === 1) endBySignal(signal);
}
