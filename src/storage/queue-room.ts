// The limits of the write queue, which both databases share.

import { unavailable } from '../domain/errors.ts';
import { charsOf } from '../domain/page-size.ts';

/** Limits on the write queue. Beyond either, the database cannot keep up, and a longer queue does not help. */
export const MAX_QUEUED_WRITES = 10_000;
export const MAX_QUEUED_CHARS = 16 * 1024 * 1024;

/** Returns the number of characters that a write adds to the queue. */
export function charsOfWrite({ plant, patch }: { kind: string; plant?: Texts; patch?: Texts }): number {
  const texts = plant ?? patch;
  return texts ? charsOf(texts) : 0;
}

type Texts = Parameters<typeof charsOf>[0];

/** The number and the characters of all writes that are not settled, in memory that the queues of all threads share. */
export class QueueRoom {
  /** The memory, from which another thread can construct the same room. */
  readonly memory: SharedArrayBuffer;
  readonly #used: Int32Array;

  constructor(memory = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#used = new Int32Array(memory);
  }

  /** Number of writes that are queued or in a transaction. */
  get writes(): number {
    return Atomics.load(this.#used, 0);
  }

  /** Takes room for a write of `chars` characters. Throws `unavailable` if the queue is full. */
  take(chars: number): void {
    const writes = Atomics.add(this.#used, 0, 1);
    const charsBefore = Atomics.add(this.#used, 1, chars);
    if (writes < MAX_QUEUED_WRITES && charsBefore + chars <= MAX_QUEUED_CHARS) return;
    this.free(1, chars);
    throw unavailable('Too many writes are queued. Retry later.');
  }

  free(writes: number, chars: number): void {
    Atomics.sub(this.#used, 0, writes);
    Atomics.sub(this.#used, 1, chars);
  }
}
