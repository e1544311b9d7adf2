// The console in a real browser: import and export, dashboard, tokens, webhooks, docs and accessibility.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openView, openWindow, requireAccessible, requireAccessibleViews, signIn, type Window } from './window.ts';

const MAX_ID = 9223372036854775807n;
/** Maximum compressed size of all files that the console loads. */
const MAX_BYTES = 150 * 1024;

describe('the console with an admin token', needsBrowser, () => {
  const folder = makeFolder();
  let server: TestService;
  let client: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let secret: string;

  before(async () => {
    server = await startTestService({ folder, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    const scopes = ['plants:read', 'plants:write', 'admin'] as const;
    secret = (await server.addToken({ name: 'owner', scopes: [...scopes] })).secret;
    client = createClient({ url: server.url, token: secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
    await client.import([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
      { id: 2n, name: 'Ficus lyrata', tag: 'tropical' },
      { id: 3n, name: 'Abies balsamea', tag: 'conifer' },
      { id: 4n, name: 'Unknown' },
    ]);
    await signIn(page, server.url, secret);
  });

  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const open = (view: string): Promise<void> => openView(page, view);
  const inDialog = (): Locator => page.getByRole('dialog');

  async function noFaults(): Promise<void> {
    assert.deepEqual(window.faults.splice(0), []);
  }

  test('every view is accessible in dark mode and on a phone', async () => {
    await requireAccessibleViews(browser, server.url, secret, { colorScheme: 'dark', width: 360 });
  });

  test('a dropped file is imported, and its rejected lines are listed', async () => {
    await open('Import and export');
    const text = `id,name,tag\n${MAX_ID},"Two\nlines",odd\nx,Bad id,\n1,Another plant,\n5,Rosa canina,shrub\n`;
    await page.getByRole('region', { name: 'Import', exact: true }).evaluate((zone, content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'some.csv', { type: 'text/csv' }));
      zone.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);
    await page.getByText('Import finished: 2 added, 0 unchanged, 2 rejected').waitFor();
    const lines = page.getByRole('region', { name: 'Rejected lines' });
    assert.deepEqual(await lines.locator('td.id').allTextContents(), ['4', '5']);
    await lines.getByText('"id" must be an integer').waitFor();
    await requireAccessible(page, 'an import');
    assert.equal((await client.get(MAX_ID)).record.name, 'Two\nlines');
    await noFaults();
  });

  test('a chosen file is imported, and importing it again stores nothing twice', async () => {
    await open('Import and export');
    const file = join(folder, 'more.ndjson');
    const plants = Array.from({ length: 3000 }, (_, n) => `{"id":${10_000 + n},"name":"Plant ${n}"}`);
    writeFileSync(file, plants.join('\n'));
    const input = page.locator('input[type=file]');
    await input.setInputFiles(file);
    await page.getByText('Import finished: 3,000 added, 0 unchanged, 0 rejected').waitFor();
    await input.setInputFiles(file);
    await page.getByText('Import finished: 0 added, 3,000 unchanged, 0 rejected').waitFor();
    writeFileSync(join(folder, 'plants.txt'), 'x');
    await input.setInputFiles(join(folder, 'plants.txt'));
    await page.getByText('The file name must end in').waitFor();
    await noFaults();
  });

  for (const [format, ending, accept] of [
    ['CSV', 'csv', 'text/csv'],
    ['NDJSON', 'ndjson', 'application/x-ndjson'],
  ] as const) {
    test(`an export as ${format} equals the response of the service`, async () => {
      await open('Import and export');
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: `Export as ${format}` }).click();
      const saved = await saving;
      assert.match(saved.suggestedFilename(), new RegExp(`^plants-\\d{4}-\\d\\d-\\d\\d\\.${ending}$`));
      const headers = { authorization: `Bearer ${secret}`, accept };
      const given = await (await fetch(`${server.url}/plants/export`, { headers })).text();
      assert.equal(readFileSync(await saved.path(), 'utf8'), given);
      await noFaults();
    });
  }

  test('the dashboard shows tags, changes over time and the latest changes, and updates by itself', async () => {
    await open('Dashboard');
    await page.getByRole('region', { name: 'Plants by tag' }).getByRole('row', { name: 'tropical 2' }).waitFor();
    await page.getByRole('img', { name: /changes in the last 24 hours/ }).waitFor();
    await page.getByRole('button', { name: '30 days' }).click();
    await page.getByRole('img', { name: /changes in the last 30 days/ }).waitFor();
    const last = page.getByRole('region', { name: 'Latest changes' });
    await last.getByText('Plant 2999').waitFor();
    await client.delete(10_000n);
    await last.getByText('deleted').waitFor();
    assert.match((await last.getByRole('listitem').first().textContent()) ?? '', /deleted.*10000.*Plant 0/);
    await page.getByRole('link', { name: 'conifer' }).click();
    await page.locator('tr[data-id="3"]').waitFor();
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 1));
    await noFaults();
  });

  test('a token is created, shown once and revoked', async () => {
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('Tokens');
    await eventually(async () => assert.equal(await page.title(), 'Tokens · Plant Store'));
    await page.getByRole('button', { name: 'Create token' }).click();
    await inDialog().getByLabel('Name').fill('shop');
    await inDialog().getByLabel('Rate limit').fill('often');
    await inDialog().getByRole('button', { name: 'Create token' }).click();
    await inDialog().getByRole('alert').getByText('rate').waitFor();
    await inDialog().getByLabel('Rate limit').fill('100/s');
    await inDialog().getByLabel('Expires after').fill('90d');
    await inDialog().getByRole('button', { name: 'Create token' }).click();
    await inDialog().getByLabel('Secret').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape'); // Browsers close a dialog on a second Escape, and the secret would be lost.
    await inDialog().getByRole('button', { name: 'Copy' }).click();
    await inDialog().getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    await requireAccessible(page, 'a secret');
    const shop = createClient({ url: server.url, token: copied });
    assert.deepEqual((await shop.tokens.self()).scopes, ['plants:read', 'plants:write']);
    await inDialog().getByRole('button', { name: 'Done' }).click();
    await inDialog().waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(copied), false);
    await page.getByRole('button', { name: 'Revoke shop' }).click();
    await inDialog().getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('Revoked shop').waitFor();
    await page.getByRole('row', { name: /shop.*revoked/ }).waitFor();
    await eventually(async () => {
      const focused = await page.evaluate(() => document.activeElement?.tagName);
      assert.equal(focused, 'MAIN', 'the focused button was removed');
    });
    await eventually(() => assert.rejects(shop.get(1n), { code: 'bad_token' }));
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('a webhook is added and tested, and one of its deliveries is retried', async () => {
    const receiver = await startReceiver();
    await open('Webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).click();
    await inDialog().getByLabel('URL').fill(`${receiver.url}/plants`);
    await inDialog().getByRole('button', { name: 'Add webhook' }).click();
    assert.match(await inDialog().getByLabel('Secret').inputValue(), /^whsec_/);
    await inDialog().getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/Test delivered\. .*200/).waitFor();
    receiver.answer((_request, response) => response.writeHead(500).end('broken'));
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/Test not delivered: .*500/).waitFor();
    receiver.answer((_request, response) => response.end('ok'));
    await client.create({ id: 60n, name: 'Delivered' });
    await receiver.count(3);
    await page.getByRole('button', { name: 'Show deliveries' }).click();
    await inDialog()
      .getByRole('row', { name: /60 delivered/ })
      .waitFor();
    await requireAccessible(page, 'deliveries');
    await inDialog()
      .getByRole('button', { name: /Retry change/ })
      .click();
    await receiver.count(4);
    const [first, again] = receiver.received.slice(-2);
    assert.equal(first?.headers['webhook-id'], again?.headers['webhook-id']);
    await inDialog().getByLabel('Status').selectOption('dead');
    await inDialog().getByText('No deliveries with this status').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove' }).click();
    await inDialog().getByRole('button', { name: 'Remove webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
    assert.deepEqual(await client.webhooks.list(), []);
    await noFaults();
  });

  test('the console loads less than 150 KiB, and caches all files', async () => {
    const other = await openWindow(browser, server.url);
    await other.page.goto(`${server.url}/`);
    await other.page.getByLabel('Token').waitFor();
    const sizes = await other.page.evaluate(() => {
      const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      return entries.map((entry) => (entry as PerformanceResourceTiming).encodedBodySize);
    });
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes < MAX_BYTES, `${bytes} bytes`);
    await other.page.reload();
    await other.page.getByLabel('Token').waitFor();
    const again = await other.page.evaluate(() =>
      performance.getEntriesByType('resource').map((entry) => (entry as PerformanceResourceTiming).transferSize),
    );
    assert.ok(
      again.every((size) => size === 0),
      `${again}`,
    );
    await other.context.close();
  });

  test('an admin token without plants:read sees no button that the API would reject', async () => {
    const receiver = await startReceiver();
    const { id } = await client.webhooks.create({ url: receiver.url });
    await client.create({ id: 61n, name: 'Delivered' });
    await receiver.count(1);
    const { secret: weak } = await server.addToken({ name: 'keeper', scopes: ['admin'] });
    const other = await openWindow(browser, server.url);
    await signIn(other.page, server.url, weak);
    await openView(other.page, 'Webhooks');
    await other.page.getByRole('button', { name: 'Show deliveries' }).click();
    await other.page.getByRole('row', { name: /61 delivered/ }).waitFor();
    assert.equal(await other.page.getByRole('button', { name: /Retry|Add webhook/ }).count(), 0);
    assert.deepEqual(other.faults, []);
    await other.context.close();
    await client.webhooks.delete(id);
  });

  test('revoking the own token signs the user out', async () => {
    const other = await server.addToken({ name: 'short-lived', scopes: ['plants:read', 'admin'] });
    const leaving = await openWindow(browser, server.url);
    await signIn(leaving.page, server.url, other.secret);
    await leaving.page.getByRole('link', { name: 'Tokens' }).click();
    await leaving.page.getByRole('button', { name: 'Revoke short-lived' }).click();
    await leaving.page.getByRole('button', { name: 'Revoke token' }).click();
    await leaving.page.getByText('You were signed out').waitFor();
    assert.equal(await leaving.page.evaluate(() => sessionStorage.length), 0);
    await leaving.context.close();
  });
});
