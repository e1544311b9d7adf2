// Counts commits in memory that all threads share, so that each thread can wait for the next commit of any thread.

import { SharedCount } from '../lib/shared-count.ts';

export class CommitCounter extends SharedCount {
  /** Counts a commit, and resolves all waits for it. */
  override add(count = 1): number {
    const sum = super.add(count);
    Atomics.notify(this.cell, 0);
    return sum;
  }

  /** Waits until the value is no longer `value`, or for `maxMs`. Returns at once if it already differs. */
  async next(value: number, maxMs = Number.POSITIVE_INFINITY): Promise<void> {
    await Atomics.waitAsync(this.cell, 0, value, maxMs).value;
  }
}
