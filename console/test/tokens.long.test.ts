// The tokens page of the console in a real browser: the own token, phones, many tokens, and requests that fail.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { BUSY, hold, openView, openWindow, requireAccessible, sentBy, startOver, type Window } from './window.ts';

describe('the tokens page, at length', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let secret: string;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    client = createClient({ url: server.url, token: secret });
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
  });
  beforeEach(async () => {
    await startOver(window, server.url, secret);
    await openView(page, 'Tokens');
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const dialog = (): Locator => page.getByRole('dialog');
  const row = (name: string): Locator => page.getByRole('row', { name });
  const fillNew = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'Create token' }).click();
    await dialog().getByLabel('Name', { exact: true }).fill(name);
  };
  const create = (): Locator => dialog().getByRole('button', { name: 'Create token' });
  const namesOf = async (name: string): Promise<number> =>
    (await client.tokens.list()).filter((token) => token.name === name).length;

  test('after a lost response, the dialog sends the user to the list, which has the token', async () => {
    await fillNew('lost');
    await page.route('**/tokens', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort();
    });
    await create().click();
    await dialog().getByText('Look at the list before you try again').waitFor();
    await page.keyboard.press('Escape');
    await row('lost').waitFor();
    assert.equal(await namesOf('lost'), 1);
    window.faults.length = 0;
  });

  test('a second click while a request is in flight creates no second token', async () => {
    await fillNew('once');
    const sent = sentBy(page, 'POST');
    const held = await hold(page, '**/tokens', () => true);
    await create().evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await held.release();
    await dialog().getByLabel('Secret', { exact: true }).waitFor();
    assert.deepEqual(sent, ['/tokens']);
    assert.equal(await namesOf('once'), 1);
    assert.deepEqual(window.faults, []);
  });

  test('Back does not lose a secret that was not copied', async () => {
    await fillNew('kept');
    await create().click();
    const secret = dialog().getByLabel('Secret', { exact: true });
    await secret.waitFor();
    await page.goBack();
    await dialog().getByText('You have not copied the secret').waitFor();
    assert.match((await secret.textContent()) ?? '', /^pst_/);
    await dialog().getByRole('button', { name: 'Close without copying' }).click();
    await row('kept').waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Tokens' }).waitFor({ state: 'detached' });
    assert.deepEqual(window.faults, []);
  });

  test('an error of the server stands at its field, without the name of the field', async () => {
    await fillNew('bell\u200b');
    await create().click();
    await dialog().getByText('The name must have 1 to 100 characters').waitFor();
    assert.equal(await dialog().getByLabel('Name', { exact: true }).getAttribute('aria-invalid'), 'true');
    await dialog().getByLabel('Name', { exact: true }).fill('dated');
    await dialog().getByText('Date…').click();
    await create().click();
    await dialog().getByText('Choose the last day').waitFor();
    await dialog().getByLabel('Last day').fill('2020-01-01');
    await create().click();
    await dialog().getByText('Choose today or a later day').waitFor();
    await dialog().getByLabel('Last day').fill('2099-12-31');
    await create().click();
    await dialog().getByLabel('Secret', { exact: true }).waitFor();
    const expires = (await client.tokens.list()).find(({ name }) => name === 'dated')?.expires ?? '';
    const local = await page.evaluate((time) => new Date(time).toLocaleString('sv-SE'), expires);
    assert.equal(local, '2099-12-31 23:59:59');
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('the last secret that was not copied is mentioned when the session ends', async () => {
    const { id, secret: short } = await server.addToken({ name: 'short', scopes: ['plants:read', 'admin'] });
    await startOver(window, server.url, short);
    await openView(page, 'Tokens');
    await fillNew('orphan');
    await create().click();
    await dialog().getByLabel('Secret', { exact: true }).waitFor();
    await client.tokens.revoke(id);
    await page.getByText('The secret of the token orphan was not copied').waitFor();
    window.faults.length = 0;
  });

  test('a user who narrows the own token is warned, and loses the page', async () => {
    const own = await server.addToken({ name: 'second', scopes: ['plants:read', 'plants:write', 'admin'] });
    await startOver(window, server.url, own.secret);
    await openView(page, 'Tokens');
    await row('second').getByText('This one').waitFor();
    await page.getByRole('button', { name: 'Rotate second' }).click();
    assert.equal(await dialog().getByText('Not at all').count(), 0, 'it would end the session before the copy');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Edit second' }).click();
    await dialog()
      .getByRole('checkbox', { name: /^Admin/ })
      .uncheck();
    await dialog().getByText('You are signed in with this token').waitFor();
    await requireAccessible(page, 'a warning');
    await dialog().getByRole('button', { name: 'Save and lose this access' }).click();
    await page.getByText('Can edit').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Tokens', exact: true }).count(), 0);
    assert.deepEqual((await client.tokens.get(own.id)).scopes, ['plants:read', 'plants:write']);
    window.faults.length = 0;
  });

  test('a failed list offers to try again', async () => {
    await page.route('**/tokens?*', (route) => route.fulfill(BUSY));
    await page.reload();
    await page.getByText('The store is busy').waitFor();
    await page.unroute('**/tokens?*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await row('owner').waitFor();
    window.faults.length = 0;
  });

  test('many tokens can be searched, and a phone shows cards with a menu', async () => {
    for (let n = 0; n < 12; n++) await client.tokens.create({ name: `sensor ${n}`, scopes: ['plants:read'] });
    const phone = await openWindow(await sharedBrowser(), server.url, {
      viewport: { width: 320, height: 700 },
      colorScheme: 'dark',
    });
    await phone.context.addInitScript((token) => sessionStorage.setItem('plant-store-token', token), secret);
    await phone.page.goto(`${server.url}/#/tokens`);
    await phone.page.getByLabel('Search by name').fill('SENSOR 11');
    await eventually(async () => assert.equal(await phone.page.locator('.tok').count(), 1));
    await requireAccessible(phone.page, 'tokens on a phone');
    const overflow = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await phone.page.getByRole('button', { name: 'Actions for sensor 11' }).click();
    await phone.page.getByRole('menuitem', { name: 'Revoke' }).click();
    await phone.page.getByRole('button', { name: 'Revoke token' }).click();
    await phone.page.getByText('Revoked sensor 11').waitFor();
    await phone.page.goto(`${server.url}/#/tokens?create=1`);
    await phone.page.getByRole('dialog').getByLabel('Name', { exact: true }).waitFor();
    await requireAccessible(phone.page, 'the form of a token on a phone');
    assert.deepEqual(phone.faults, []);
    await phone.context.close();
  });
});
