// Imports and exports that take long or fail, in a real browser, and the docs page.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { hold, openWindow, requireAccessible, sentBy, signIn, startOver, type Window } from './window.ts';

/** Enough lines for several requests of about 1 MiB. */
const MANY = 120_000;
/** The address of an import, without that of a dry run. */
const IMPORT = '**/plants/import';

describe('imports and exports that take long or fail', needsBrowser, () => {
  const folder = makeFolder();
  let server: TestService;
  let client: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let firstId = 1;

  before(async () => {
    server = await startTestService({ folder });
    client = createClient({ url: server.url, token: server.secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
    await client.create({ id: -1n, name: 'Monstera deliciosa', tag: 'tropical' });
  });

  beforeEach(async () => {
    firstId += 10 * MANY;
    await startOver(window, server.url, server.secret);
    await page.goto(`${server.url}/#/transfer`);
  });

  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const click = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).click();
  const heading = (name: string): Promise<void> => page.getByRole('heading', { name }).waitFor();

  async function choose(name: string, lines: string[]): Promise<void> {
    writeFileSync(join(folder, name), lines.join('\n'));
    await page.locator('input[type=file]').setInputFiles(join(folder, name));
  }

  function manyLines(): string[] {
    return Array.from({ length: MANY }, (_, n) => `{"id":${firstId + n},"name":"Many ${n}"}`);
  }

  test('of a large file the first lines are checked at once, and all lines on request', async () => {
    const lines = manyLines();
    lines[MANY - 1] = '{"id":"x","name":"Last"}';
    await choose('large.ndjson', lines);
    await heading('In the first 1,000 lines');
    assert.deepEqual(await page.locator('.tally b').allTextContents(), ['1,000']);
    await page.getByRole('button', { name: 'Import the whole file' }).waitFor();
    await requireAccessible(page, 'the check of a large file');
    await click('Check the whole file');
    await page.getByText(`Line ${MANY.toLocaleString('en-US')} The id must be an integer`).waitFor();
    await page.getByRole('button', { name: `Import ${(MANY - 1).toLocaleString('en-US')} plants` }).waitFor();
    await assert.rejects(client.get(BigInt(firstId)), { code: 'not_found' });
    assert.deepEqual(window.faults, []);
  });

  test('an import continues in another view and ends with the session', async () => {
    const held = await hold(page, IMPORT, () => ++pieces > 1);
    let pieces = 0;
    await choose('many.ndjson', manyLines());
    await click('Import the whole file');
    await page.getByRole('progressbar', { name: 'Imported' }).waitFor();
    await requireAccessible(page, 'an import in progress');
    await page.getByRole('link', { name: 'Plants' }).click();
    await page
      .getByRole('navigation', { name: 'Main' })
      .getByText(/^[1-9]\d? %$/)
      .waitFor();
    const asked = page.waitForEvent('dialog');
    const leaving = page.close({ runBeforeUnload: true });
    await (await asked).dismiss();
    await leaving;
    await page.getByRole('link', { name: 'Import and export' }).click();
    await page.getByRole('button', { name: 'Stop import' }).waitFor();
    const sent = sentBy(page, 'POST');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const question = page.getByRole('alertdialog', { name: 'Sign out without saving?' });
    await question.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await held.release().catch(() => {}); // The page has aborted the request.
    await client.get(BigInt(firstId));
    await assert.rejects(client.get(BigInt(firstId + MANY / 2)), { code: 'not_found' });
    assert.deepEqual(sent, []);
  });

  test('an import that ends with the token tells the user to send the file again', async () => {
    const { id, secret } = await server.addToken({ name: 'short-lived', scopes: ['plants:read', 'plants:write'] });
    await startOver(window, server.url, secret);
    await page.goto(`${server.url}/#/transfer`);
    let pieces = 0;
    const held = await hold(page, IMPORT, () => ++pieces > 1);
    await choose('ending.ndjson', manyLines());
    await click('Import the whole file');
    await page.getByText(/[1-9][\d,]* lines, about/).waitFor();
    await server.store.revokeToken(id, Date.now(), true);
    await held.release();
    await page.getByText('You were signed out').waitFor();
    await page.getByText('The import of ending.ndjson did not finish').waitFor();
    await requireAccessible(page, 'signing in again');
  });

  test('a stopped import keeps what was stored, and sending it again stores the rest', async () => {
    let pieces = 0;
    const held = await hold(page, IMPORT, () => ++pieces > 1);
    await choose('stopped.ndjson', manyLines());
    await click('Import the whole file');
    await page.getByText(/[1-9][\d,]* lines, about/).waitFor();
    await click('Stop import');
    await heading('Import stopped');
    await held.release().catch(() => {}); // The page has aborted the request.
    await page.getByText('What was stored stays').waitFor();
    await requireAccessible(page, 'a stopped import');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await click('Send again');
    await heading('Import finished');
    const [added = 0, unchanged = 0, refused] = (await page.locator('.trio dd').allTextContents()).map((text) =>
      Number(text.replaceAll(',', '')),
    );
    assert.ok(added > 0 && unchanged > 0, `${added} added, ${unchanged} unchanged`);
    assert.deepEqual([added + unchanged, refused], [MANY, 0]);
  });

  test('an import that loses the server says that sending it again is safe', async () => {
    let pieces = 0;
    await page.route(IMPORT, (route) => (++pieces > 1 ? route.abort() : route.continue()));
    await choose('lost.ndjson', manyLines());
    await click('Import the whole file');
    await heading('Import did not finish');
    await page.getByText('The server does not respond.').waitFor();
    await page.getByText('Sending the file again is safe').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await click('Send again');
    await heading('Import finished');
    await client.get(BigInt(firstId + MANY - 1));
  });

  test('a check that fails can be repeated', async () => {
    await page.route('**/plants/import?dryRun=true', (route) => route.abort(), { times: 3 });
    await choose('check.csv', ['id,name', `${firstId},Ficus`]);
    await page.getByText('The server does not respond.').waitFor();
    assert.equal(await page.getByRole('button', { name: /^Import (the|\d)/ }).isDisabled(), true);
    await click('Try again');
    await page.getByRole('button', { name: 'Import 1 plant', exact: true }).waitFor();
  });

  test('of more than 1,000 refused lines the first 1,000 are listed and saved', async () => {
    const rows = Array.from({ length: 1500 }, (_, n) => `x${n},Plant ${n}`);
    await choose('bad.csv', ['id,name', ...rows, `${firstId},Good`]);
    await click(/^Import 1 plant$/);
    await page.getByText('The report lists the first 1,000 of 1,500 refused lines.').waitFor();
    assert.equal(await page.locator('.fails li').count(), 10);
    await click('Show 100 more');
    assert.equal(await page.locator('.fails li').count(), 110);
    const saving = page.waitForEvent('download');
    await click('Download the first 1,000');
    const text = readFileSync(await (await saving).path(), 'utf8');
    assert.equal(text, `${['id,name', ...rows.slice(0, 1000)].join('\n')}\n`);
  });

  test('an export can be stopped, and a failed one says why', async () => {
    const held = await hold(page, '**/plants/export');
    await click(/^Export/);
    await click('Stop export');
    await page.getByRole('button', { name: /^Export/ }).waitFor();
    await held.release().catch(() => {}); // The page has aborted the request.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.route('**/plants/export', (route) => route.abort());
    await click(/^Export/);
    await page.getByRole('alert').getByText('The server does not respond.').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    const saving = page.waitForEvent('download');
    await click(/^Export/);
    await saving;
  });

  for (const [width, colorScheme] of [
    [1440, 'dark'],
    [820, 'light'],
    [390, 'dark'],
    [320, 'light'],
  ] as const) {
    test(`every step fits and is accessible at ${width} px, ${colorScheme}`, async () => {
      const viewport = { width, height: 800 };
      const own = await openWindow(browser, server.url, { viewport, colorScheme });
      const look = async (what: string) => {
        await requireAccessible(own.page, `${what} at ${width} px`);
        const overflow = await own.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${what} is ${overflow} px wider than ${width} px`);
      };
      await own.page.addInitScript((token) => sessionStorage.setItem('plant-store-token', token), server.secret);
      await own.page.goto(`${server.url}/#/transfer?tag=${'long'.repeat(30)}&untagged=true&q=${'word'.repeat(30)}`);
      await own.page.getByText('No tag').waitFor();
      await look('the choice');
      const name = `${'name'.repeat(40)}.csv`;
      const rows = [`${firstId},${'Long name '.repeat(40)},${'tag'.repeat(60)},1`, `x,שקד,,${'y'.repeat(300)}`, '1'];
      writeFileSync(join(folder, name), ['id,name,tag,a_column_that_is_not_imported', ...rows].join('\n'));
      await own.page.locator('input[type=file]').setInputFiles(join(folder, name));
      await own.page.getByText('Line 3 The id must be an integer').waitFor();
      await look('the check');
      await own.page.getByRole('button', { name: 'Import 1 plant', exact: true }).click();
      await own.page.getByRole('heading', { name: 'Import finished' }).waitFor();
      await look('the end');
      assert.deepEqual(own.faults, []);
      await own.context.close();
    });
  }
});

describe('the docs page', needsBrowser, () => {
  test("sends requests with the user's token, and leads back to the console below a base path", async () => {
    const server = await startTestService({ env: { BASE_PATH: '/store' } });
    const url = server.url.replace(/\/$/, '');
    await createClient({ url, token: server.secret }).create({ id: 7n, name: 'Monstera deliciosa', tag: 'tropical' });
    const { page, context, faults } = await openWindow(await sharedBrowser(), url);
    await signIn(page, url, server.secret);
    await page.goto(`${url}/docs`);
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await requireAccessible(page, 'the docs');
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByText('"Monstera deliciosa"').last().waitFor(); // The plant exists, so the request is a replay.
    await page.getByRole('button', { name: /Send post request/ }).click();
    await page.getByText('200 OK').waitFor();
    await page.goto('about:blank');
    await page.goto(`${url}/docs`);
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    const back = page.getByRole('link', { name: 'Back to the console' });
    assert.equal(await back.evaluate((link) => link === document.activeElement), true);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/store/');
    assert.deepEqual(faults, []);
    await context.close();
    await server.stop();
  });

  test('has its link to the console on a phone in the dark', async () => {
    const server = await startTestService();
    const options = { viewport: { width: 390, height: 800 }, colorScheme: 'dark' } as const;
    const { page, context, faults } = await openWindow(await sharedBrowser(), server.url, options);
    await page.goto(`${server.url}/docs`);
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await requireAccessible(page, 'the docs on a phone');
    await page.getByRole('heading', { name: 'Create a plant' }).first().scrollIntoViewIfNeeded();
    await page.getByRole('link', { name: 'Back to the console' }).click();
    await page.getByLabel('Token').waitFor();
    assert.deepEqual(faults, []);
    await context.close();
    await server.stop();
  });
});
