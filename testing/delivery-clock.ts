// A clock for webhook delivery on which hours pass at once. By default it stands still otherwise.

import type { DeliveryClock } from '../src/webhooks/delivery-times.ts';

export interface TestClock extends DeliveryClock {
  /** Lets time pass on both clocks. */
  pass(ms: number): void;
  /** Sets the wall clock, to this much ahead of the real time. */
  set(aheadMs: number): void;
}

export function createTestClock(isRunning = false): TestClock {
  const startMs = performance.now();
  let passedMs = 0;
  let aheadMs = 0;
  const elapsedMs = () => passedMs + (isRunning ? performance.now() - startMs : 0);
  const wallStartMs = Date.now();
  return {
    monotonicMs: () => startMs + elapsedMs(),
    wallMs: () => wallStartMs + elapsedMs() + aheadMs,
    pass(ms) {
      passedMs += ms;
    },
    set(ms) {
      aheadMs = ms;
    },
  };
}
