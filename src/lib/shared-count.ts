// A count in memory that all threads of the process share.

export class SharedCount {
  /** The memory, from which another thread can construct the same count. */
  readonly memory: SharedArrayBuffer;
  protected readonly cell: Int32Array;

  /** Creates a count of 0, or opens the memory of another thread. */
  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.cell = new Int32Array(memory);
  }

  get value(): number {
    return Atomics.load(this.cell, 0);
  }

  /** Adds `count`, which can be negative, and returns the sum. */
  add(count: number): number {
    return Atomics.add(this.cell, 0, count) + count;
  }
}
