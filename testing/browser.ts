// Starts the Chromium of the machine, if it has one.

import { type Browser, chromium } from 'playwright-core';
import { findCommand } from './find-command.ts';

const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update'];

const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
  .map(findCommand)
  .find((path) => path !== undefined);
export const needsBrowser = executablePath === undefined ? { skip: 'SKIPPED: Chromium is missing' } : {};

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ args: FLAGS, ...(executablePath !== undefined && { executablePath }) });
}
