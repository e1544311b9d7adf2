// The console in a real browser: files in and out, the dashboard, tokens, webhooks, the docs, and how all of it looks.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser, openBrowser } from '../../testing/browser.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { addToken, makeFolder, startServer, type TestServer } from '../../testing/server.ts';
import { eventually } from '../../testing/until.ts';
import { openWindow, requireAccessible, signIn, type Window } from './window.ts';

const MAX_ID = 9223372036854775807n;
const VIEWS = ['Plants', 'Dashboard', 'Import and export', 'Tokens', 'Webhooks'];
/** Of everything that the console loads, compressed. */
const MAX_BYTES = 150 * 1024;

describe('the console of an administrator', needsBrowser, () => {
  const folder = makeFolder();
  let server: TestServer;
  let client: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let secret: string;

  before(async () => {
    server = await startServer({ folder, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    const scopes = ['plants:read', 'plants:write', 'admin'] as const;
    secret = (await addToken(server.databaseUrl, { name: 'owner', scopes: [...scopes] })).secret;
    client = createClient({ url: server.url, token: secret });
    browser = await openBrowser();
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
    await browser?.close();
    await server?.stop();
  });

  const open = (view: string): Promise<void> => openView(page, view);
  const inDialog = (): Locator => page.getByRole('dialog');

  async function noFaults(): Promise<void> {
    assert.deepEqual(window.faults.splice(0), []);
  }

  test('is usable for everybody: in light and dark, on a phone and on a wide screen', async () => {
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 1280],
      ['light', 360],
    ] as const) {
      const other = await openWindow(browser, server.url, { colorScheme, viewport: { width, height: 800 } });
      await other.page.goto(`${server.url}/`);
      await other.page.getByLabel('Token').waitFor();
      await requireAccessible(other.page, `signing in (${colorScheme}, ${width})`);
      await signIn(other.page, server.url, secret);
      for (const view of VIEWS) {
        await openView(other.page, view);
        await other.page.waitForLoadState('load');
        await requireAccessible(other.page, `${view} (${colorScheme}, ${width})`);
        const overflow = await other.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${view} is ${overflow} px too wide for ${width}`);
      }
      assert.deepEqual(other.faults, []);
      await other.context.close();
    }
  });

  test('imports a file that is dropped, and names the lines that were refused', async () => {
    await open('Import and export');
    const text = `id,name,tag\n${MAX_ID},"Two\nlines",odd\nx,Bad id,\n1,Another plant,\n5,Rosa canina,shrub\n`;
    await page.getByRole('region', { name: 'Import', exact: true }).evaluate((zone, content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'some.csv', { type: 'text/csv' }));
      zone.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);
    await page.getByText('Done: 2 stored, 0 there already, 2 refused').waitFor();
    const lines = page.getByRole('region', { name: 'Lines that were refused' });
    assert.deepEqual(await lines.locator('td.id').allTextContents(), ['4', '5']);
    await lines.getByText('"id" must be an integer').waitFor();
    await requireAccessible(page, 'an import');
    assert.equal((await client.get(MAX_ID)).record.name, 'Two\nlines');
    await noFaults();
  });

  test('imports a file that is chosen, and the same again stores nothing twice', async () => {
    await open('Import and export');
    const file = join(folder, 'more.ndjson');
    const plants = Array.from({ length: 3000 }, (_, n) => `{"id":${10_000 + n},"name":"Plant ${n}"}`);
    writeFileSync(file, plants.join('\n'));
    const input = page.locator('input[type=file]');
    await input.setInputFiles(file);
    await page.getByText('Done: 3,000 stored, 0 there already, 0 refused').waitFor();
    await input.setInputFiles(file);
    await page.getByText('Done: 0 stored, 3,000 there already, 0 refused').waitFor();
    writeFileSync(join(folder, 'plants.txt'), 'x');
    await input.setInputFiles(join(folder, 'plants.txt'));
    await page.getByText('Its name must end with').waitFor();
    await noFaults();
  });

  for (const [format, ending, accept] of [
    ['CSV', 'csv', 'text/csv'],
    ['NDJSON', 'ndjson', 'application/x-ndjson'],
  ] as const) {
    test(`exports ${format} as the service gives it`, async () => {
      await open('Import and export');
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: `Save as ${format}` }).click();
      const saved = await saving;
      assert.match(saved.suggestedFilename(), new RegExp(`^plants-\\d{4}-\\d\\d-\\d\\d\\.${ending}$`));
      const headers = { authorization: `Bearer ${secret}`, accept };
      const given = await (await fetch(`${server.url}/plants/export`, { headers })).text();
      assert.equal(readFileSync(await saved.path(), 'utf8'), given);
      await noFaults();
    });
  }

  test('has a dashboard of tags, changes over time and the last changes, which goes on by itself', async () => {
    await open('Dashboard');
    await page.getByRole('region', { name: 'Plants by tag' }).getByRole('row', { name: 'tropical 2' }).waitFor();
    await page.getByRole('img', { name: /changes in 24 hours/ }).waitFor();
    await page.getByRole('button', { name: '30 days' }).click();
    await page.getByRole('img', { name: /changes in 30 days/ }).waitFor();
    const last = page.getByRole('region', { name: 'Last changes' });
    await last.getByText('Plant 2999').waitFor();
    await client.delete(10_000n);
    await last.getByText('deleted').waitFor();
    assert.match((await last.getByRole('listitem').first().textContent()) ?? '', /deleted.*10000.*Plant 0/);
    await page.getByRole('link', { name: 'conifer' }).click();
    await page.locator('tr[data-id="3"]').waitFor();
    await eventually(async () => assert.equal(await page.locator('tbody tr').count(), 1));
    await noFaults();
  });

  test('makes a token, shows it once, and revokes it', async () => {
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('Tokens');
    await eventually(async () => assert.equal(await page.title(), 'Tokens · Plant Store'));
    await page.getByRole('button', { name: 'Make a token' }).click();
    await inDialog().getByLabel('Who will use it').fill('shop');
    await inDialog().getByLabel('At most so many requests').fill('often');
    await inDialog().getByRole('button', { name: 'Make it' }).click();
    await inDialog().getByRole('alert').getByText('rate').waitFor();
    await inDialog().getByLabel('At most so many requests').fill('100/s');
    await inDialog().getByLabel('Expires after').fill('90d');
    await inDialog().getByRole('button', { name: 'Make it' }).click();
    await inDialog().getByLabel('Secret').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape'); // which browsers let through; it would be gone for good
    await inDialog().getByRole('button', { name: 'Copy' }).click();
    await inDialog().getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    await requireAccessible(page, 'a secret');
    const shop = createClient({ url: server.url, token: copied });
    assert.deepEqual((await shop.tokens.self()).scopes, ['plants:read', 'plants:write']);
    await inDialog().getByRole('button', { name: 'I have kept it' }).click();
    await inDialog().waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(copied), false);
    await page.getByRole('button', { name: 'Revoke shop' }).click();
    await inDialog().getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Revoked shop').waitFor();
    await page.getByRole('row', { name: /shop.*revoked/ }).waitFor();
    await eventually(async () => {
      const focused = await page.evaluate(() => document.activeElement?.tagName);
      assert.equal(focused, 'MAIN', 'the button that had the focus is gone');
    });
    await sleep(1000); // within which it holds everywhere
    await assert.rejects(shop.get(1n), { code: 'bad_token' });
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('adds a webhook, tests it, shows its deliveries and sends one again', async () => {
    const receiver = await startReceiver();
    await open('Webhooks');
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await inDialog().getByLabel('Address of the receiver').fill(`${receiver.url}/plants`);
    await inDialog().getByRole('button', { name: 'Add it' }).click();
    assert.match(await inDialog().getByLabel('Secret').inputValue(), /^whsec_/);
    await inDialog().getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText(/The receiver has it: 200/).waitFor();
    receiver.answer((_request, response) => response.writeHead(500).end('broken'));
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText(/Not delivered: .*500/).waitFor();
    receiver.answer((_request, response) => response.end('ok'));
    await client.create({ id: 60n, name: 'Told of' });
    await receiver.count(3);
    await page.getByRole('button', { name: 'Deliveries' }).click();
    await inDialog()
      .getByRole('row', { name: /60 delivered/ })
      .waitFor();
    await requireAccessible(page, 'deliveries');
    await inDialog()
      .getByRole('button', { name: /Send again: change/ })
      .click();
    await receiver.count(4);
    const [first, again] = receiver.received.slice(-2);
    assert.equal(first?.headers['webhook-id'], again?.headers['webhook-id']);
    await inDialog().getByLabel('Show').selectOption('dead');
    await inDialog().getByText('Nothing here').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Remove' }).click();
    await inDialog().getByRole('button', { name: 'Remove' }).click();
    await page.getByText('None yet.').waitFor();
    assert.deepEqual(await client.webhooks.list(), []);
    await noFaults();
  });

  test('loads little, and nothing again that it has', async () => {
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

  test('has the interface as a page to try, with the token of whoever is signed in', async () => {
    await page.getByRole('link', { name: 'Interface' }).click();
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await requireAccessible(page, 'the docs');
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByText('"Monstera deliciosa"').last().waitFor(); // which is plant 1 already: a replay
    await page.getByRole('button', { name: /Send post request/ }).click();
    await page.getByText('200 OK').waitFor();
    await noFaults();
  });

  test('works below a base path', async () => {
    const based = await startServer({ env: { BASE_PATH: '/store' } });
    const other = await openWindow(browser, based.url);
    await signIn(other.page, based.url.replace(/\/$/, ''), based.secret);
    await other.page.getByRole('button', { name: 'Add a plant' }).click();
    await other.page.getByRole('dialog').getByLabel('Id').fill('1');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('Stored plant 1').waitFor();
    await other.page.getByRole('link', { name: 'Interface' }).click();
    await other.page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    assert.deepEqual(other.faults, []);
    await other.context.close();
    await based.stop();
  });

  test('shows an administrator who may not read plants nothing that would be refused', async () => {
    const receiver = await startReceiver();
    const { id } = await client.webhooks.create({ url: receiver.url });
    await client.create({ id: 61n, name: 'Told of' });
    await receiver.count(1);
    const { secret: weak } = await addToken(server.databaseUrl, { name: 'keeper', scopes: ['admin'] });
    const other = await openWindow(browser, server.url);
    await signIn(other.page, server.url, weak);
    await openView(other.page, 'Webhooks');
    await other.page.getByRole('button', { name: 'Deliveries' }).click();
    await other.page.getByRole('row', { name: /61 delivered/ }).waitFor();
    assert.equal(await other.page.getByRole('button', { name: /Send again|Add a webhook/ }).count(), 0);
    assert.deepEqual(other.faults, []);
    await other.context.close();
    await client.webhooks.delete(id);
  });

  test('signs out whoever has revoked the token they use', async () => {
    const other = await addToken(server.databaseUrl, { name: 'short-lived', scopes: ['plants:read', 'admin'] });
    const leaving = await openWindow(browser, server.url);
    await signIn(leaving.page, server.url, other.secret);
    await leaving.page.getByRole('link', { name: 'Tokens' }).click();
    await leaving.page.getByRole('button', { name: 'Revoke short-lived' }).click();
    await leaving.page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await leaving.page.getByText('You were signed out').waitFor();
    assert.equal(await leaving.page.evaluate(() => sessionStorage.length), 0);
    await leaving.context.close();
  });

  async function openView(page: Page, view: string): Promise<void> {
    await page.getByRole('link', { name: view, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: view }).waitFor();
  }
});
