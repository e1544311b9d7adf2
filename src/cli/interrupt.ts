// Handles signals that end a command before it completes.

import type { CommandIo } from './command-io.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** On a signal, cleans up and ends the process by that signal. A second signal does not interrupt the clean-up. */
export function onInterrupt(io: CommandIo, cleanUp: () => void): void {
  for (const signal of SIGNALS) {
    io.on(signal, () => {
      cleanUp();
      endBySignal(signal);
    });
  }
}

/** Ends the process by the signal, so that a shell detects it. Unlike process.exit(), it does not wait for threads. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
