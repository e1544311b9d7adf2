// Counts commits in memory that all threads share, so that each thread can wait for the next commit of any thread.

export class CommitCounter {
  /** The memory, from which another thread can construct the same counter. */
  readonly memory: SharedArrayBuffer;
  readonly #count: Int32Array;

  /** Creates a counter, or opens the memory of another thread. */
  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#count = new Int32Array(memory);
  }

  get count(): number {
    return Atomics.load(this.#count, 0);
  }

  /** Counts a commit, and resolves all waits for it. */
  add(): void {
    Atomics.add(this.#count, 0, 1);
    Atomics.notify(this.#count, 0);
  }

  /** Waits until the count is no longer `count`, or for `maxMs`. Returns at once if it already differs. */
  async next(count: number, maxMs = Number.POSITIVE_INFINITY): Promise<void> {
    await Atomics.waitAsync(this.#count, 0, count, maxMs).value;
  }
}
