// What a long piece of work does when it is told to end before it is done.

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Then the process dies of the same signal, so that a shell gets the status it expects: 130 for Ctrl-C. It does so at
 * once, where process.exit() would wait for its threads. A second signal does not cut the cleaning up short.
 */
export function onInterrupt(cleanUp: () => void): void {
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      cleanUp();
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    });
  }
}
