// A clock for webhook delivery that a test advances by hours at once. By default it does not advance by itself.

import type { DeliveryClock } from '../src/webhooks/delivery-times.ts';

export interface TestClock extends DeliveryClock {
  /** Advances both clocks. */
  pass(ms: number): void;
  /** Sets the wall clock ahead of the real time by this much. */
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
