// Signals that end a command before it is done.

import type { CommandIo } from './command-io.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Cleans up, then ends the process by the signal. A second signal does not interrupt the clean-up. */
export function onInterrupt(io: CommandIo, cleanUp: () => void): void {
  for (const signal of SIGNALS) {
    io.on(signal, () => {
      cleanUp();
      endBySignal(signal);
    });
  }
}

/** Ends the process by the signal, so that a shell sees it: at once, while process.exit() would wait for threads. */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}
