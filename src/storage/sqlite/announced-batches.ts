// Counts, in memory that all threads share, the threads that are about to send a batch to the writer thread. The writer
// waits for them, so that their writes share one commit. A thread announces a batch with its first write, and sends it at
// the end of the same turn of its event loop.

/** Maximum time that the writer waits. A turn of an event loop can take longer. */
const MAX_WAIT_MS = 1;

export class AnnouncedBatches {
  /** The memory, from which another thread can construct the same counter. */
  readonly memory: SharedArrayBuffer;
  readonly #count: Int32Array;

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#count = new Int32Array(memory);
  }

  announce(): void {
    Atomics.add(this.#count, 0, 1);
  }

  /** Must be called after the announced batch was sent, or if it never will be. */
  withdraw(): void {
    Atomics.sub(this.#count, 0, 1);
    Atomics.notify(this.#count, 0);
  }

  /** Blocks the thread until all announced batches were sent. */
  waitForAll(): void {
    const untilMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const count = Atomics.load(this.#count, 0);
      const leftMs = untilMs - performance.now();
      if (count === 0 || leftMs <= 0) return;
      Atomics.wait(this.#count, 0, count, leftMs);
    }
  }
}
