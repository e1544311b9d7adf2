// What a long piece of work does when it is told to end before it is done.

const STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/** Then the process ends with the status that shells expect. */
export function onInterrupt(cleanUp: () => void): void {
  for (const [signal, status] of Object.entries(STATUS)) {
    process.once(signal, () => {
      cleanUp();
      process.exit(status);
    });
  }
}
