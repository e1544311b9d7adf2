// Helpers for tests in a real browser: windows that record errors, and the actions of a user.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SERIOUS = ['serious', 'critical'];
const TIMEOUT_MS = 30_000;
const VIEWS = ['Plants', 'Dashboard', 'Import and export', 'Tokens', 'Webhooks'];

/** A response for requests that must fail. */
export const BUSY = {
  status: 400,
  contentType: 'application/json',
  body: '{"error":40000,"message":"The store is busy"}',
};

/** A window with its own storage and cookies. */
export interface Window {
  context: BrowserContext;
  page: Page;
  /** Errors and warnings of the page, and requests to other hosts. A test that expects them removes them. */
  faults: string[];
}

export async function openWindow(opened: Browser, url: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await opened.newContext({ acceptDownloads: true, ...options });
  context.setDefaultTimeout(TIMEOUT_MS);
  const faults: string[] = [];
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== 'blob:' && protocol !== 'data:') {
      faults.push(`requested ${request.url()}`);
    }
  });
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text());
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  return { context, page: await context.newPage(), faults };
}

/** Fails if axe-core finds a serious problem on the page, with its current colours and size. */
export async function requireAccessible(page: Page, what: string): Promise<void> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe-core defines this property
    const { violations } = await (window as any).axe.run();
    return violations as { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  });
  const serious = violations
    .filter(({ impact }) => SERIOUS.includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  assert.deepEqual(serious, [], `${what} is not accessible`);
}

/** Checks every view in this colour scheme and width. */
export async function requireAccessibleViews(
  browser: Browser,
  url: string,
  secret: string,
  { colorScheme, width }: { colorScheme: 'light' | 'dark'; width: number },
): Promise<void> {
  const { page, context, faults } = await openWindow(browser, url, { colorScheme, viewport: { width, height: 800 } });
  await page.goto(`${url}/`);
  await page.getByLabel('Token').waitFor();
  await requireAccessible(page, `signing in (${colorScheme}, ${width})`);
  await signIn(page, url, secret);
  for (const view of VIEWS) {
    await openView(page, view);
    await page.waitForLoadState('load');
    await requireAccessible(page, `${view} (${colorScheme}, ${width})`);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${view} is ${overflow} px wider than ${width} px`);
  }
  assert.deepEqual(faults, []);
  await context.close();
}

export async function openView(page: Page, view: string): Promise<void> {
  await page.getByRole('link', { name: view, exact: true }).click();
  await page.getByRole('heading', { level: 1, name: view }).waitFor();
}

/** Resets the window and signs in. This is faster than opening another window. */
export async function startOver({ page }: Window, url: string, secret: string): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.removeAllListeners('request');
  if (page.url().startsWith(url)) await page.evaluate(() => sessionStorage.clear());
  await page.goto('about:blank'); // A URL that differs only in its fragment would not be loaded again.
  await signIn(page, url, secret);
}

/** A route whose requests are held until they are released. */
export interface Held {
  /** Releases the requests and waits until the page shows their responses. */
  release(): Promise<void>;
}

/** Holds the requests to this URL for which `isHeld` returns true. */
export async function hold(page: Page, address: string, isHeld: (url: string) => boolean = () => true): Promise<Held> {
  const released = Promise.withResolvers<void>();
  const going: Promise<void>[] = [];
  const letGo = async (route: Route) => {
    await released.promise;
    await route.continue().catch(() => {}); // The page has aborted it.
    await (await route.request().response())?.finished();
  };
  await page.route(address, (route) => {
    if (!isHeld(route.request().url())) return route.continue();
    const one = letGo(route);
    going.push(one);
    return one;
  });
  return {
    async release() {
      released.resolve();
      await Promise.all(going);
      await shown(page);
    },
  };
}

/** Returns an array to which the path of each further request with this method is added. */
export function sentBy(page: Page, method: string): string[] {
  const paths: string[] = [];
  page.on('request', (request) => request.method() === method && paths.push(new URL(request.url()).pathname));
  return paths;
}

/** Waits until the page has rendered its current state. */
export async function shown(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** Signs in through the form. */
export async function signIn(page: Page, url: string, secret: string): Promise<void> {
  await page.goto(`${url}/`);
  await page.getByLabel('Token').fill(secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
