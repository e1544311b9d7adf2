// Shows the writer thread, through memory that all threads share, which threads have writes that they will send soon.
// The writer waits for them before it commits the batches of others, so that they share one commit. A thread announces a
// batch with its first write, and sends it at the end of the turn of its event loop or after the results of the last one.

/** Maximum time that the writer waits. Longer waits make larger transactions, but leave the disk idle. */
const MAX_WAIT_MS = 0.1;
/** Maximum number of threads that can have writes. */
export const MAX_THREADS = 64;

export class AnnouncedBatches {
  /** The memory, from which another thread can construct the same announcements. */
  readonly memory: SharedArrayBuffer;
  /** Number of batches sent so far, which wakes the writer, and then 1 for each thread that has announced a batch. */
  readonly #sent: Int32Array;
  readonly #announced: Int32Array;

  constructor(memory = new SharedArrayBuffer((1 + MAX_THREADS) * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#sent = new Int32Array(memory, 0, 1);
    this.#announced = new Int32Array(memory, Int32Array.BYTES_PER_ELEMENT);
  }

  announce(thread: number): void {
    Atomics.store(this.#announced, thread, 1);
  }

  /** Must be called after the batch was sent, or if it never will be. */
  withdraw(thread: number): void {
    Atomics.store(this.#announced, thread, 0);
    Atomics.add(this.#sent, 0, 1);
    Atomics.notify(this.#sent, 0);
  }

  /** Blocks the thread until these threads have sent the batches that they have announced. */
  waitFor(threads: number[]): void {
    const untilMs = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const sent = Atomics.load(this.#sent, 0);
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || !threads.some((thread) => Atomics.load(this.#announced, thread) === 1)) return;
      Atomics.wait(this.#sent, 0, sent, leftMs);
    }
  }
}
