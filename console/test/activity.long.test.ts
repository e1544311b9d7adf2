// The change log in a real browser: many changes, errors, pruned changes, and every width and theme.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { BUSY, openView, openWindow, requireAccessible, signIn, type Window } from './window.ts';

const PLANTS = 12_000;
const MAX_SHOWN = 1000;
const LONG_NAME = 'Crataegus'.repeat(500);

describe('a long change log in the console', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let shop: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let secret: string;

  before(async () => {
    server = await startTestService();
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    client = createClient({ url: server.url, token: secret });
    shop = createClient({ url: server.url, token: (await server.addToken({ name: 'shop' })).secret });
    browser = await sharedBrowser();
    await shop.create({ id: -1n, name: 'The first plant' });
    await client.import(Array.from({ length: PLANTS }, (_, at) => ({ id: BigInt(at), name: `Plant ${at}` })));
    window = await openWindow(browser, server.url);
    page = window.page;
    await signIn(page, server.url, secret);
    await openView(page, 'Activity');
  });

  beforeEach(async () => {
    await page.goto(`${server.url}/#/activity`);
    await page.reload();
    await rows().first().waitFor();
  });

  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const rows = (): Locator => page.locator('.ev-row');
  const row = (text: string): Locator => rows().filter({ hasText: text });
  const choice = (name: string): Locator => page.getByRole('combobox', { name });
  const list = (): Locator => page.getByRole('region', { name: 'Changes' });
  const toEnd = () => list().evaluate((list) => list.scrollTo(0, list.scrollHeight));

  test('a change behind many that do not match is found', async () => {
    await choice('Token').selectOption({ label: 'shop' });
    await row('The first plant').waitFor();
    await page.getByText('No older change matches these filters.').waitFor();
    assert.equal(await rows().count(), 1);
  });

  test('the list has an end, after which older changes can be shown', async () => {
    await eventually(async () => {
      await toEnd();
      assert.equal(await rows().count(), MAX_SHOWN);
    });
    await page.locator('.end .btn', { hasText: 'Show older changes' }).click(); // By role would take seconds here.
    const first = PLANTS + 1 - MAX_SHOWN;
    await page.locator(`[data-seq="${first}"]`).waitFor();
    assert.equal(await rows().first().getAttribute('data-seq'), String(first));
    assert.ok(page.url().endsWith(`#/activity?before=${first + 1}`));
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.locator(`[data-seq="${PLANTS + 1}"]`).waitFor();
  });

  test('a busy store keeps 100 entries at the top, without gaps', async () => {
    for (let round = 0; round < 5; round++) {
      await Promise.all(
        Array.from({ length: 150 }, (_, at) => client.put(BigInt(at), { name: `Round ${round}, ${at}` })),
      );
    }
    await rows().filter({ hasText: 'Round 4' }).first().waitFor();
    await eventually(async () => {
      const seqs = await rows().evaluateAll((all) => all.map((row) => Number(row.dataset.seq)));
      assert.equal(seqs[0], await client.lastSeq());
      assert.ok(seqs.length <= 200, `${seqs.length} entries`);
      assert.ok(
        seqs.every((seq, at) => at === 0 || seq === (seqs[at - 1] ?? 0) - 1),
        'a change is missing',
      );
    });
  });

  test('new changes appear at the top, or wait behind a button while the user reads', async () => {
    await shop.put(30_000n, { name: 'At the top' });
    await row('At the top').waitFor();
    await list().evaluate((list) => list.scrollTo(0, 500));
    await shop.put(30_001n, { name: 'Waiting' });
    await page.getByRole('button', { name: '1 new change' }).waitFor();
    await shop.put(30_002n, { name: 'Waiting too' });
    await page.getByRole('button', { name: '2 new changes' }).waitFor();
    assert.equal(await row('Waiting').count(), 0);
    await page.getByRole('button', { name: '2 new changes' }).click();
    await eventually(async () => assert.equal(await row('Waiting').count(), 2));
    assert.equal(await list().evaluate((list) => list.scrollTop), 0);

    await page.getByRole('button', { name: 'Live' }).click();
    await shop.put(30_003n, { name: 'After the pause' });
    await page.getByRole('button', { name: '1 new change' }).waitFor();
    await page.getByRole('button', { name: 'Paused' }).click();
    await row('After the pause').waitFor();
  });

  test('a time from which nothing can be found is reported', async () => {
    await choice('Time').selectOption({ label: 'Between…' });
    await page.getByLabel('From', { exact: true }).fill('2020-01-02T10:00');
    await page.getByLabel('To', { exact: true }).fill('2020-01-01T10:00');
    await page.getByText('The end must be after the start').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2020-01-03T10:00');
    await page.getByRole('heading', { name: 'No changes found' }).waitFor();
  });

  test('the difference to a version that the list does not contain is loaded', async () => {
    await client.put(5000n, { name: 'Changed', tag: 'new' });
    const changed = row('Changed');
    await changed.getByText('Plant 5000').waitFor();
    assert.deepEqual(await changed.locator('ins').allTextContents(), ['Changed', 'new']);
  });

  test('an error is shown where it arose, and loading can be repeated', async () => {
    const address = /\/events\?.*order=desc/;
    await page.route(address, (route) => route.fulfill(BUSY));
    await toEnd();
    await page.getByText('Older changes could not be loaded. The store is busy').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'The changes could not be loaded' }).waitFor();
    await requireAccessible(page, 'a failed change log');
    await page.unroute(address);
    await page.getByRole('button', { name: 'Try again' }).click();
    await rows().first().waitFor();
    assert.ok(window.faults.splice(0).every((fault) => / 400 /.test(fault)));
  });

  test('the change log fits every width, in light and dark', async () => {
    await client.put(1n, { name: LONG_NAME, tag: 'a' });
    await client.put(1n, { name: `${LONG_NAME} ${LONG_NAME}`, tag: LONG_NAME });
    for (const [at, width] of [1440, 1024, 820, 390, 320].entries()) {
      const colorScheme = at % 2 === 0 ? 'light' : 'dark';
      const other = await openWindow(browser, server.url, { colorScheme, viewport: { width, height: 900 } });
      await other.page.addInitScript((token) => sessionStorage.setItem('plant-store-token', token), secret);
      await other.page.goto(`${server.url}/#/activity?time=between`);
      await other.page.locator('.ev-row').nth(3).click();
      await other.page.locator('.ev-more').waitFor();
      await requireAccessible(other.page, `the change log (${colorScheme}, ${width})`);
      const overflow = await other.page.evaluate(() => {
        const scroller = document.querySelector('.scroller') as HTMLElement;
        return [document.documentElement.scrollWidth - innerWidth, scroller.scrollWidth - scroller.clientWidth];
      });
      assert.deepEqual(overflow, [0, 0], `at ${width} px`);
      assert.deepEqual(other.faults, []);
      await other.context.close();
    }
  });

  test('pruned changes are reported, and the newest ones can be shown', async () => {
    await page.getByRole('button', { name: 'Live' }).click();
    await client.put(2n, { name: 'Pruned' });
    await client.put(3n, { name: 'Pruned too' });
    await page.getByRole('button', { name: '2 new changes' }).waitFor();
    await server.store.pruneChanges(Date.now() + 60_000);
    await page.getByRole('button', { name: '2 new changes' }).click();
    await page.getByRole('heading', { name: 'The change log was pruned' }).waitFor();
    await requireAccessible(page, 'a pruned change log');
    await page.getByRole('button', { name: 'Show the newest changes' }).click();
    await page.getByRole('heading', { name: 'No changes yet' }).waitFor();
    await page.getByRole('button', { name: 'Paused' }).click();
    await client.put(4n, { name: 'After the prune' });
    await row('After the prune').waitFor();
    assert.ok(window.faults.splice(0).every((fault) => / 410 /.test(fault)));
  });
});
