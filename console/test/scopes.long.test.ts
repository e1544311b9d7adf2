// What the console offers to tokens without all scopes: no action that the API would reject.

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient, type Scope } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openView, openWindow, requireAccessible, sentBy, signIn, signOut, type Window } from './window.ts';

describe('a token without all scopes', needsBrowser, () => {
  let server: TestService;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    const { secret } = await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] });
    const shop = await server.addToken({ name: 'shop' });
    const client = createClient({ url: server.url, token: secret });
    const receiver = await startReceiver();
    await client.webhooks.create({ url: receiver.url, name: 'Stock list' });
    await client.import([
      { id: 1n, name: 'Ficus lyrata' },
      { id: 2n, name: 'Monstera deliciosa' },
    ]);
    await createClient({ url: server.url, token: shop.secret }).delete(2n);
    await receiver.count(2);
  });
  after(async () => {
    await server?.stop();
  });
  afterEach(async () => {
    await window.context.close();
  });

  async function enterAs(name: string, ...scopes: Scope[]): Promise<void> {
    const { secret } = await server.addToken({ name, scopes });
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
    await signIn(page, server.url, secret);
  }

  test('a reader of plants cannot change them, and learns why pages are missing', async () => {
    await enterAs('reader', 'plants:read');
    await page.locator('.tr[data-id="1"]').waitFor();
    assert.equal(await page.getByRole('button', { name: /Add|Edit|Delete|Set tag/ }).count(), 0);
    assert.equal(await page.getByRole('link', { name: /Tokens|Webhooks|^Import$/ }).count(), 0);
    await page.getByTitle('Tokens requires a token with the scope admin').waitFor();
    await requireAccessible(page, 'the list for a reader');
    assert.deepEqual(window.faults, []);
  });

  test('a reader of the change log sees the names of tokens, and cannot restore', async () => {
    await enterAs('kiosk', 'plants:read');
    await openView(page, 'Activity');
    await page
      .locator('.ev-row')
      .filter({ hasText: /Deleted.*shop/ })
      .click();
    await page.getByRole('button', { name: 'Copy as JSON' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Restore/ }).count(), 0);
    const tokens = await page.getByRole('combobox', { name: 'Token' }).locator('option').allTextContents();
    assert.deepEqual(tokens, ['Any token', 'kiosk', 'owner', 'shop']);
    assert.ok(window.faults.every((fault) => / 404 /.test(fault))); // the history of a plant that was deleted since
  });

  test('a reader of the dashboard sees no requests, and why there is no health', async () => {
    await enterAs('display', 'plants:read');
    await openView(page, 'Dashboard');
    await page.getByText('needs a token with the scope admin').waitFor();
    assert.equal(await page.getByText(/^Requests, 24 h/).count(), 0);
    await page.getByText('shop deleted Monstera deliciosa').waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('a reader can export, and a writer can import and reads nothing', async () => {
    await enterAs('exporter', 'plants:read');
    await page.goto(`${server.url}/#/transfer`);
    await page.getByRole('heading', { name: 'Export', exact: true }).waitFor();
    assert.equal(await page.locator('input[type=file]').count(), 0);
    await signOut(page);
    const requests = sentBy(page, 'GET');
    await page.getByLabel('Token').fill((await server.addToken({ name: 'writer', scopes: ['plants:write'] })).secret);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Import', exact: true }).waitFor();
    assert.equal(await page.getByRole('heading', { name: 'Export', exact: true }).count(), 0);
    assert.deepEqual(
      requests.filter((path) => path.startsWith('/plants')),
      [],
    );
    assert.deepEqual(window.faults, []);
  });

  test('an admin who cannot read plants can only delete a webhook', async () => {
    await enterAs('keeper', 'admin');
    await openView(page, 'Webhooks');
    await page.getByRole('listitem').filter({ hasText: 'Plant 1' }).first().waitFor();
    await page.getByText('sign in with a token that can also read plants').waitFor();
    const forbidden = page.getByRole('button', { name: /Add|Pause|Replay|Retry|Send again|Delivered.*Plant/ });
    assert.equal(await forbidden.count(), 0);
    await page.getByRole('button', { name: 'More actions' }).click();
    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Delete webhook']);
    assert.deepEqual(window.faults, []);
  });

  test('an admin can only revoke a token with more scopes, and is signed out by revoking the own one', async () => {
    await enterAs('short-lived', 'plants:read', 'admin');
    await openView(page, 'Tokens');
    const offered = page.getByRole('button', { name: /^(Edit|Rotate|Revoke) / });
    await page.getByRole('button', { name: 'Revoke short-lived' }).waitFor();
    const names = await offered.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    assert.ok(names.includes('Revoke owner') && !names.includes('Edit owner'), 'a token with more rights: only revoke');
    await page.getByRole('button', { name: 'Revoke short-lived' }).click();
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('You were signed out').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assert.deepEqual(window.faults, []);
  });
});
