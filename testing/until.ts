// Waits for conditions in tests. The load of the machine is unknown, so tests wait for an event as long as it takes.
// A measurement that is too slow is repeated, because slow code is slow each time.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time after which an event counts as missing. */
const IN_VAIN_MS = 30_000;
const LOOK_EVERY_MS = 10;
const TRIES = 5;

type Nothing = undefined | null | false | 0 | '';

/** Calls a function every 10 ms until it returns a truthy value, and returns that. Fails with the message after the time. */
export async function until<T>(
  look: () => T | Promise<T>,
  withinMs = IN_VAIN_MS,
  message = () => `not within ${withinMs} ms: ${look}`,
): Promise<Exclude<T, Nothing>> {
  for (const endMs = performance.now() + withinMs; ; await sleep(LOOK_EVERY_MS)) {
    const found = await look();
    if (found) return found as Exclude<T, Nothing>;
    assert.ok(performance.now() < endMs, message());
  }
}

/** Calls a function until it throws no error. Fails with the last error after 30 s. */
export async function eventually<T>(look: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + IN_VAIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** Passes if one of several measurements, in milliseconds, is below the maximum. */
export async function quickEnough(maxMs: number, measure: () => Promise<number>): Promise<void> {
  const slow: number[] = [];
  while (slow.length < TRIES) {
    const tookMs = await measure();
    if (tookMs < maxMs) return;
    slow.push(Math.round(tookMs));
  }
  assert.fail(`it took ${slow.join(', ')} ms for ${maxMs}`);
}
