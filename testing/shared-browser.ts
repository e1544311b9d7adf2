import type { Browser } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { atEndOfProcess } from './clean-up.ts';

let shared: Promise<Browser> | undefined;

/** Returns the one browser of all tests in this process. Close what you open in it, and leave it open. */
export function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    const opening = openBrowser();
    atEndOfProcess(async () => (await opening).close());
    shared = opening;
  }
  return shared;
}
