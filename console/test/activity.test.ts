// The change log in a real browser: entries, differences, filters, live changes and restoring.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openView, openWindow, STILL, signIn, type Window } from './window.ts';

describe('the change log in the console', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let shop: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    const { secret } = await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] });
    client = createClient({ url: server.url, token: secret });
    shop = createClient({ url: server.url, token: (await server.addToken({ name: 'shop' })).secret });
    browser = await sharedBrowser();
    await client.import(Array.from({ length: 150 }, (_, at) => ({ id: BigInt(at), name: `Plant ${at}` })));
    await client.put(200n, { name: 'Acer saccharum' });
    await shop.patch(200n, { name: 'Acer saccharum Marshall', tag: 'tree' });
    await shop.delete(149n);
    window = await openWindow(browser, server.url, STILL);
    page = window.page;
    await signIn(page, server.url, secret);
    await openView(page, 'Activity');
  });

  beforeEach(async () => {
    await page.goto(`${server.url}/#/activity`);
    await rows().first().waitFor();
  });

  after(async () => {
    assert.deepEqual(window?.faults, []);
    await window?.context.close();
    await server?.stop();
  });

  const rows = (): Locator => page.locator('.ev-row');
  const row = (text: string | RegExp): Locator => rows().filter({ hasText: text });
  const choice = (name: string): Locator => page.getByRole('combobox', { name });
  const detail = (): Locator => page.locator('.ev-more');

  test('an entry says who did what, and opens with the difference word by word', async () => {
    await row(/Updated.*Acer saccharum Marshall.*shop/).click();
    assert.deepEqual(await detail().locator('tbody tr').allTextContents(), [
      'NameAcer saccharumAcer saccharum Marshall',
      'Tagnonetree',
    ]);
    assert.deepEqual(await detail().locator('ins').allTextContents(), ['Marshall', 'tree']);
    const link = detail().getByRole('link', { name: 'Open plant' });
    assert.equal(await link.getAttribute('href'), '#/plants?id=200');
    await page.keyboard.press('Escape');
    await eventually(async () => assert.equal(await detail().count(), 0));
  });

  test('the arrow keys move through the entries, and Enter opens one', async () => {
    await page.reload(); // no entry has been open
    await page.getByRole('region', { name: 'Changes' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await detail().getByText('Acer saccharum Marshall').waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await detail().count(), 0));
  });

  test('the filters are in the URL and can be cleared', async () => {
    await page.getByRole('button', { name: 'Updated', exact: true }).click();
    await choice('Token').selectOption({ label: 'shop' });
    await choice('Time').selectOption({ label: 'Last hour' });
    await eventually(async () => assert.equal(await rows().count(), 1));
    assert.match(page.url(), /#\/activity\?type=updated&token=tok_\w+&time=1h$/);
    await page.getByText('No older change matches these filters.').waitFor();
    await page.reload();
    await eventually(async () => assert.equal(await rows().count(), 1));
    await choice('Token').selectOption({ label: 'owner' });
    await page.getByRole('heading', { name: 'No changes found' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await row('149').first().waitFor();
    assert.match(page.url(), /#\/activity$/);
  });

  test('older changes are loaded at the end of the list', async () => {
    await page.getByText('100 changes shown').waitFor();
    await rows().last().scrollIntoViewIfNeeded();
    await page.getByText('153 changes shown').waitFor();
    await page.getByText('That is everything.').waitFor();
    await page.getByRole('region', { name: 'Changes' }).evaluate((list) => list.scrollTo(0, 0));
  });

  test('a deleted plant is restored, and the restore is undone', async () => {
    await row(/Deleted.*Plant 149/).click();
    await detail().getByRole('button', { name: 'Restore' }).click();
    await page.getByText('Restored Plant 149').waitFor();
    assert.equal((await client.get(149n)).record.name, 'Plant 149');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Deleted Plant 149 again').waitFor();
    await page.keyboard.press('Escape');
  });

  test('an id that another plant has taken is reported', async () => {
    await client.put(149n, { name: 'Another' });
    await row(/Deleted.*Plant 149/)
      .first()
      .click();
    await detail().getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('status').getByText(/149/).waitFor();
    assert.equal((await client.get(149n)).record.name, 'Another');
    assert.ok(window.faults.splice(0).every((fault) => / 400 /.test(fault)));
    await page.keyboard.press('Escape');
  });

  test('the version before is restored unless the plant has changed since', async () => {
    await row(/Updated.*Acer saccharum Marshall/).click();
    await detail().getByRole('button', { name: 'Restore the version before' }).click();
    await page.getByText('Restored the version before of Acer saccharum').waitFor();
    assert.deepEqual((await client.get(200n)).record.name, 'Acer saccharum');
    await detail().getByRole('button', { name: 'Restore the version before' }).waitFor({ state: 'detached' });
  });

  test('an update of a plant that was deleted since shows only what the change contains', async () => {
    await client.put(400n, { name: 'First' });
    await client.put(400n, { name: 'Second' });
    await client.delete(400n);
    await page.reload(); // without the entries that were loaded before
    await row(/Deleted.*Second/).waitFor();
    await page.getByRole('button', { name: 'Updated', exact: true }).click();
    await eventually(async () => assert.equal(await row('Added').count(), 0));
    await row('Second').click();
    await page.getByText('The version before is no longer in the change log').waitFor();
    assert.deepEqual(await detail().locator('tbody tr').allTextContents(), ['NameSecond', 'TagNo tag']);
    assert.ok(window.faults.splice(0).every((fault) => / 404 /.test(fault)));
  });
});
