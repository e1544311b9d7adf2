// The tokens page of the console in a real browser.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openView, openWindow, STILL, signIn, type Window } from './window.ts';

describe('the tokens page', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    const { secret } = await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] });
    client = createClient({ url: server.url, token: secret });
    window = await openWindow(await sharedBrowser(), server.url, STILL);
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    page = window.page;
    await signIn(page, server.url, secret);
  });
  beforeEach(() => openView(page, 'Tokens'));
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const dialog = (): Locator => page.getByRole('dialog');
  const row = (name: string): Locator => page.getByRole('row', { name });
  const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());

  test('a token is created, its secret is shown once, and it is revoked', async () => {
    assert.equal(await page.title(), 'Tokens · Plant Store');
    await page.getByRole('button', { name: 'Create token' }).click();
    await dialog().getByText('Other…').click();
    await dialog().getByRole('button', { name: 'Create token' }).click();
    await dialog().getByText('Enter a name').waitFor();
    await dialog().getByText('Enter a whole number from 1').waitFor();
    assert.ok(await isFocused(dialog().getByLabel('Name', { exact: true })), 'the first field with an error');
    await dialog().getByLabel('Name', { exact: true }).fill('shop');
    await dialog().getByLabel('Number of requests').fill('5000');
    await dialog().getByLabel('Period').selectOption('per hour');
    await dialog()
      .getByRole('checkbox', { name: /^Write/ })
      .check();
    await dialog().getByText('90 days').click();
    await dialog().getByRole('button', { name: 'Create token' }).click();
    const secret = dialog().getByLabel('Secret', { exact: true });
    await secret.waitFor();
    const text = (await secret.textContent()) ?? '';
    await dialog().getByText(`Authorization: Bearer ${text}`).waitFor();
    await page.keyboard.press('Escape');
    await dialog().getByText('You have not copied the secret').waitFor();
    await page.keyboard.press('Escape');
    await dialog().getByRole('button', { name: 'Copy', exact: true }).click();
    await dialog().getByRole('button', { name: 'Copied' }).first().waitFor();
    assert.equal(await copied(), text);
    const shop = createClient({ url: server.url, token: text });
    const { scopes, rate, expires = '' } = await shop.tokens.self();
    assert.deepEqual({ scopes, rate }, { scopes: ['plants:read', 'plants:write'], rate: '5000/h' });
    assert.equal(Math.round((Date.parse(expires) - Date.now()) / 86_400_000), 90);
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().waitFor({ state: 'detached' });
    assert.equal((await page.content()).includes(text), false);
    await row('shop').getByText('5,000 per hour').waitFor();
    await page.getByRole('button', { name: 'Revoke shop' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('Revoked shop').waitFor();
    await page.getByRole('link', { name: /^Ended/ }).click();
    await row('shop').getByText('Revoked').waitFor();
    await eventually(() => assert.rejects(shop.tokens.self(), { code: 'bad_token' }));
    assert.deepEqual(window.faults, []);
  });

  test('a token is edited: only what changed is sent, and limits are removed', async () => {
    const { id } = await client.tokens.create({
      name: 'printer',
      expires: '30d',
      rate: '10/s',
      scopes: ['plants:read'],
    });
    await page.reload();
    await page.getByRole('button', { name: 'Edit printer' }).click();
    await dialog().getByText('Never').click();
    await dialog().getByText('No limit').click();
    await dialog().getByLabel('Name', { exact: true }).fill('label printer');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      dialog().getByRole('button', { name: 'Save token' }).click(),
    ]);
    assert.deepEqual(request.postDataJSON(), { name: 'label printer', rate: null, expires: null });
    await row('label printer').waitFor();
    const { expires, rate } = await client.tokens.get(id);
    assert.deepEqual([expires, rate], [undefined, undefined]);
    assert.deepEqual(window.faults, []);
  });

  test('a secret is rotated, and the old one works for the chosen time', async () => {
    const old = await client.tokens.create({ name: 'sensor', scopes: ['plants:read'] });
    await page.reload();
    await page.getByRole('button', { name: 'Rotate sensor' }).click();
    await dialog().getByText('1 hour').click();
    await dialog().getByRole('button', { name: 'Rotate secret' }).click();
    await dialog().getByRole('button', { name: 'Copy', exact: true }).click();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await row('sensor')
      .getByText(/Old secret ends/)
      .waitFor();
    for (const token of [old.secret, await copied()]) {
      assert.equal((await createClient({ url: server.url, token }).tokens.self()).id, old.id);
    }
    const { rotating = '' } = await client.tokens.get(old.id);
    assert.equal(Math.round((Date.parse(rotating) - Date.now()) / 60_000), 60);
    assert.deepEqual(window.faults, []);
  });

  test('the last admin token is kept, and the reason names no id', async () => {
    await page.getByRole('button', { name: 'Revoke owner' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('You will be signed out').waitFor();
    await question.getByRole('button', { name: 'Revoke token' }).click();
    await question.getByText('This is the last token with the scope admin').waitFor();
    assert.equal((await question.textContent())?.includes('tok_'), false);
    await question.getByRole('button', { name: 'Cancel' }).click();
    assert.deepEqual(window.faults.splice(0).length, 1, 'the browser logs the status 409');
  });
});

function isFocused(field: Locator): Promise<boolean> {
  return field.evaluate((element) => element === document.activeElement);
}
