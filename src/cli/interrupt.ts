// Handles signals that end a command before it completes.

import type { CommandIo } from './command-io.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Time within which a second signal counts as the first: npm and timeout(1) repeat the signal of the terminal. */
export const ECHO_MS = 500;

/** On a signal, cleans up and ends the process by that signal. A second signal does not interrupt the clean-up. */
export function onInterrupt(io: CommandIo, cleanUp: () => void): void {
  for (const signal of SIGNALS) {
    io.on(signal, () => {
      cleanUp();
      endBySignal(signal);
    });
  }
}

/** Calls `stop` on the first signal, and `kill`, which ends the process, on one that comes at least 0.5 s later. */
export function onStopSignal(
  io: CommandIo,
  signals: readonly NodeJS.Signals[],
  stop: (signal: NodeJS.Signals) => void,
  kill: (signal: NodeJS.Signals) => void = endBySignal,
): void {
  let stoppedMs: number | undefined;
  for (const signal of signals) {
    io.on(signal, () => {
      if (stoppedMs === undefined) {
        stoppedMs = performance.now();
        stop(signal);
      } else if (performance.now() - stoppedMs > ECHO_MS) kill(signal);
    });
  }
}

/** Ends the process by the signal, so that a shell detects it. Unlike process.exit(), it does not wait for threads. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
