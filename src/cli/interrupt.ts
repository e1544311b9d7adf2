// Handles signals that end a command before it completes.

import { constants } from 'node:os';
import { toSafeText } from '../lib/safe-text.ts';
import { END_SIGNALS, endBySignal, undoAll } from '../lib/undo-at-end.ts';
import type { CommandIo } from './command-io.ts';

/** Time within which a second signal counts as the first: npm and timeout(1) repeat the signal of the terminal. */
export const ECHO_MS = 500;

/** On a signal, prints what was lost and ends the process by that signal. */
export function onInterrupt(io: CommandIo, lost: string): void {
  for (const signal of END_SIGNALS) {
    io.on(signal, () => {
      undoAll(); // restores the terminal before the message
      io.stderr.write(`Interrupted. ${toSafeText(lost)}\n`);
      endBySignal(signal);
    });
  }
}

/** Calls `stop` on the first signal, and `kill`, which ends the process, on one that comes at least 0.5 s later. */
export function onStopSignal<Signal extends NodeJS.Signals>(
  io: CommandIo,
  signals: readonly Signal[],
  stop: (signal: Signal) => void,
  kill: (signal: Signal) => void = endBySignal,
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

/** Returns the exit status with which a shell reports a process that the signal has ended. */
export function statusOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
