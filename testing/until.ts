// Waiting in tests. Nobody knows how busy the machine is with others: what is to come is waited for as long as it takes,
// and what was not quick enough is tried again, since what is slow by itself is slow each time.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** It will not come any more. */
const IN_VAIN_MS = 30_000;
const LOOK_EVERY_MS = 10;
const TRIES = 5;

type Nothing = undefined | null | false | 0 | '';

/** Looks every 10 ms until there is something, and returns it. Fails with the message when the time is over. */
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

/** Until nothing is thrown any more; else it fails with what was thrown last. */
export async function eventually<T>(look: () => Promise<T>): Promise<T> {
  for (const endMs = performance.now() + IN_VAIN_MS; ; await sleep(LOOK_EVERY_MS)) {
    try {
      return await look();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
  }
}

/** The measure is in milliseconds. */
export async function quickEnough(maxMs: number, measure: () => Promise<number>): Promise<void> {
  const slow: number[] = [];
  while (slow.length < TRIES) {
    const tookMs = await measure();
    if (tookMs < maxMs) return;
    slow.push(Math.round(tookMs));
  }
  assert.fail(`it took ${slow.join(', ')} ms for ${maxMs}`);
}
