// A real browser, where the machine has one.

import { execFileSync, spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';
import { atEnd } from './server.ts';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];

const browser = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (command) => spawnSync(command, ['--version']).status === 0,
);
export const needsBrowser = browser === undefined ? { skip: 'SKIPPED: there is no Chromium' } : {};

export function openBrowser(): Promise<Browser> {
  const executablePath = execFileSync('which', [browser as string], { encoding: 'utf8' }).trim();
  return chromium.launch({ executablePath, args: FLAGS });
}

let shared: Promise<Browser> | undefined;

/** Returns the one browser of all tests in this process. Close what you open in it, and leave it open. */
export function sharedBrowser(): Promise<Browser> {
  if (shared === undefined) {
    const opening = openBrowser();
    atEnd(async () => (await opening).close());
    shared = opening;
  }
  return shared;
}
