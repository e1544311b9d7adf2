// Helpers for tests in a real browser: windows that record errors, and the actions of a user.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TIMEOUT_MS = 30_000;

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

/** Option for quick tests, which need up to a fifth less CPU time without transitions. The long tests have them. */
export const STILL: BrowserContextOptions = { reducedMotion: 'reduce' };

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

/** Fails if axe-core finds a problem on the page that is more than minor, with its current colours and size. */
export async function requireAccessible(page: Page, what: string): Promise<void> {
  await settled(page);
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe-core defines this property
    const { violations } = await (window as any).axe.run({ resultTypes: ['violations'] });
    return violations as { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[];
  });
  const found = violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  assert.deepEqual(found, [], `${what} is not accessible`);
}

/** Fails if an element is wider than the page, or if its text is cut without an ellipsis. */
export async function requireFits(page: Page, what: string): Promise<void> {
  await settled(page);
  const faults = await page.evaluate(() => {
    const { clientWidth } = document.documentElement;
    const found: string[] = [];
    if (document.documentElement.scrollWidth > clientWidth) found.push('the page scrolls sideways');
    for (const element of document.querySelectorAll<HTMLElement>('body *')) {
      const box = element.getBoundingClientRect();
      const style = getComputedStyle(element);
      const isUnseen = style.visibility === 'hidden' || style.clipPath.startsWith('inset(50%');
      if (box.width === 0 || box.height === 0 || isUnseen || element.closest('svg, .skip')) continue;
      const isOutside = box.right > clientWidth + 1 || box.left < -1;
      if (isOutside && style.position !== 'fixed' && !isClippedBy(element.parentElement))
        found.push(`outside: ${describe(element)}`);
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim());
      const isClipped = element.scrollWidth > element.clientWidth + 1 && style.overflowX !== 'visible';
      const isEllipsis = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
      if (hasText && isClipped && !isEllipsis && style.overflowX !== 'auto')
        found.push(`clipped: ${describe(element)}`);
      if (isClipped && style.overflowX === 'auto' && element.tagName !== 'PRE')
        found.push(`scrolls sideways: ${describe(element)}`);
    }
    return found.slice(0, 5);

    /** True if the element or one around it hides what does not fit. */
    function isClippedBy(element: HTMLElement | null): boolean {
      if (!element || element === document.body) return false;
      return getComputedStyle(element).overflowX === 'hidden' || isClippedBy(element.parentElement);
    }

    function describe(element: HTMLElement): string {
      return `${element.tagName}.${element.className} ${element.textContent?.slice(0, 40)}`;
    }
  });
  assert.deepEqual(faults, [], what);
}

/** Waits until animations have ended, because a half-transparent text has too little contrast. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().iterations !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished.catch(() => {})),
    ),
  );
}

/** Opens a view by its link in the navigation, which is behind More on a phone. */
export async function openView(page: Page, view: string): Promise<void> {
  const link = page.getByRole('link', { name: view }).filter({ visible: true });
  const more = page.getByRole('button', { name: 'More', exact: true }).filter({ visible: true });
  await link.or(more).first().waitFor();
  if ((await link.count()) === 0) await more.click();
  await link.first().click();
  await page.getByRole('heading', { level: 1, name: view }).waitFor();
}

/** Resets the window and signs in. This is faster than opening another window. */
export async function startOver({ page, faults }: Window, url: string, secret: string): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.removeAllListeners('request');
  if (page.url().startsWith(url)) await page.evaluate(() => sessionStorage.clear());
  await page.goto('about:blank'); // A URL that differs only in its fragment would not be loaded again.
  faults.length = 0; // The old page may still have asked for what the next test has removed.
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
      await Promise.race([Promise.all(going), tooLate(`requests to ${address} that have no end`)]);
      await shown(page);
    },
  };
}

/** Throws after the timeout that other waits have, because a test that only ends by its own timeout says nothing. */
async function tooLate(what: string): Promise<never> {
  await delay(TIMEOUT_MS, undefined, { ref: false });
  throw new Error(`Waited too long for ${what}`);
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
  await page.getByRole('navigation').first().waitFor();
}

/** Clicks Sign out, which is behind More on a phone. */
export async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
}
