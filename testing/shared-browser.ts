import type { Browser } from 'playwright-core';
import { openBrowser } from './browser.ts';
import { atEndOfProcess } from './clean-up.ts';

let shared: Promise<Browser> | undefined;

/** Returns the browser that all tests in this process share. Close the pages you open, not the browser. */
export function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    const opening = openBrowser();
    atEndOfProcess(async () => (await opening).close());
    shared = opening;
  }
  return shared;
}
