// The dashboard in a real browser: an empty store, errors, a failing webhook, an import, and every width and theme.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { BUSY, openView, openWindow, requireAccessible, signIn, type Window } from './window.ts';

describe('the dashboard in rare states', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let secret: string;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    client = createClient({ url: server.url, token: secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
    await signIn(page, server.url, secret);
    await openView(page, 'Dashboard');
  });

  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const region = (name: string) => page.getByRole('region', { name });

  test('an empty store is described, until it has plants', async () => {
    await page.getByRole('link', { name: 'Plants 0 None yet' }).waitFor();
    await region('Changes over time').getByText('No changes yet').waitFor();
    await region('Activity').getByText('The change log is empty').waitFor();
    await region('Plants by tag').getByRole('link', { name: 'Add plants' }).waitFor();
    await requireAccessible(page, 'an empty dashboard');
    await client.import(
      Array.from({ length: 24 }, (_, at) => ({ id: BigInt(at), name: `Plant ${at}`, tag: `tag ${at % 12}` })),
    );
    await page.getByRole('link', { name: 'Plants 24 +24 this week' }).waitFor();
  });

  test('all tags are shown on request', async () => {
    const tags = region('Plants by tag');
    assert.equal(await tags.getByRole('listitem').count(), 9);
    await tags.getByRole('button', { name: 'All tags' }).click();
    assert.equal(await tags.getByRole('listitem').count(), 12);
    await tags.getByRole('button', { name: 'Fewer tags' }).click();
    assert.equal(await tags.getByRole('listitem').count(), 9);
  });

  test('a paused dashboard keeps its numbers, and a resumed one catches up', async () => {
    await page.getByRole('button', { name: 'Live' }).click();
    await client.put(100n, { name: 'Hundred', tag: 'tag 1' });
    await page.locator('.nav-count').getByText('25').waitFor(); // The navigation is current.
    assert.equal(await page.getByRole('link', { name: /^Plants 24 / }).count(), 1);
    await page.getByRole('button', { name: 'Paused' }).click();
    await page.getByRole('link', { name: /^Plants 25 / }).waitFor();
  });

  test('a failing webhook is a problem with a link to it and the time of its next attempt', async () => {
    const { id } = await client.webhooks.create({ url: 'http://127.0.0.1:1/', name: 'nursery' });
    await client.put(101n, { name: 'Not delivered' });
    await page.reload();
    const health = region('Health');
    await health.getByText('1 problem').waitFor();
    await health.getByText('1 failing, 1 delivery waiting').waitFor();
    const link = health.getByRole('link', { name: /nursery is failing Next attempt/ });
    assert.equal(await link.getAttribute('href'), `#/webhooks?id=${id}`);
    await region('Activity')
      .getByText(/nursery started failing/)
      .waitFor();
  });

  test('a dashboard without a summary says so, and is retried', async () => {
    await page.route('**/plants/summary', (route) => route.fulfill(BUSY));
    await page.reload();
    await page.getByRole('heading', { name: 'The dashboard could not be loaded' }).waitFor();
    await page.getByText('The store is busy').waitFor();
    await requireAccessible(page, 'a failed dashboard');
    await page.unroute('**/plants/summary');
    await page.getByRole('link', { name: /^Plants 26 / }).waitFor();
    assert.ok(window.faults.splice(0).every((fault) => / 400 /.test(fault)));
  });

  test('a failed refresh keeps the numbers and can be repeated', async () => {
    await page.route('**/plants/summary', (route) => route.fulfill(BUSY));
    await client.put(102n, { name: 'Unseen' });
    await page.getByRole('alert').getByText('The store is busy').waitFor();
    assert.equal(await page.getByRole('link', { name: /^Plants 26 / }).count(), 1);
    await page.unroute('**/plants/summary');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('link', { name: /^Plants 27 / }).waitFor();
    assert.ok(window.faults.splice(0).every((fault) => / 400 /.test(fault)));
  });

  test('the dashboard fits every width, in light and dark', async () => {
    for (const [at, width] of [1440, 1024, 820, 390, 320].entries()) {
      const colorScheme = at % 2 === 0 ? 'light' : 'dark';
      const other = await openWindow(browser, server.url, { colorScheme, viewport: { width, height: 900 } });
      await other.page.addInitScript((token) => sessionStorage.setItem('plant-store-token', token), secret);
      await other.page.goto(`${server.url}/#/dashboard`);
      await other.page.getByText('Response time').waitFor();
      await requireAccessible(other.page, `the dashboard (${colorScheme}, ${width})`);
      const overflow = await other.page.evaluate(() => {
        const pageElement = document.querySelector('.page') as HTMLElement;
        return [document.documentElement.scrollWidth - innerWidth, pageElement.scrollWidth - pageElement.clientWidth];
      });
      assert.deepEqual(overflow, [0, 0], `at ${width} px`);
      assert.deepEqual(other.faults, []);
      await other.context.close();
    }
    assert.deepEqual(window.faults, []);
  });
});
