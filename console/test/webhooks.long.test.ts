// The webhooks page of the console in a real browser: deliveries, states, phones, and requests that fail.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { hold, openWindow, requireAccessible, sentBy, startOver, type Window } from './window.ts';

const BIG_ID = 9223372036854775807n;

describe('the webhooks page, at length', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let receiver: Receiver;
  let secret: string;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    client = createClient({ url: server.url, token: secret });
    receiver = await startReceiver();
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
  });
  beforeEach(async () => {
    for (const { id } of await client.webhooks.list()) await client.webhooks.delete(id);
    receiver.answer((_request, response) => response.end('ok'));
    await startOver(window, server.url, secret);
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const dialog = (): Locator => page.getByRole('dialog');
  const detail = (name: string): Locator => page.getByRole('region', { name });
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  const open = async (id = ''): Promise<void> => {
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `#/webhooks${id && `?id=${id}`}`,
    );
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  };

  test('a delivery opens to its request and its attempts, and is sent again', async () => {
    const { id } = await client.webhooks.create({ url: receiver.url, name: 'Stock list' });
    await open(id);
    const before = receiver.received.length;
    await client.create({ id: BIG_ID, name: 'Rosa canina' });
    await receiver.count(before + 1);
    const delivery = page.getByRole('button', { name: new RegExp(`Delivered.*Added.*${BIG_ID}`) });
    await delivery.click();
    await page.getByText('webhook-signature').waitFor();
    await page.getByText(`"id": ${BIG_ID}`).waitFor();
    await page.getByRole('button', { name: 'Exact' }).click();
    const sent = receiver.received.at(-1);
    await page.getByText(sent?.body ?? '', { exact: true }).waitFor();
    await requireAccessible(page, 'a delivery');
    await page.getByRole('button', { name: 'Send again' }).click();
    await receiver.count(before + 2);
    assert.equal(receiver.received.at(-1)?.headers['webhook-id'], sent?.headers['webhook-id']);
    await page.getByRole('button', { name: 'Given up' }).click();
    await page.getByText('No delivery was given up').waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('a failing webhook says why, since when and what follows', async () => {
    const failing = await client.webhooks.create({ url: 'http://127.0.0.1:1/', name: 'Broken' });
    await client.create({ id: 3n, name: 'Not delivered' });
    await open();
    await page.getByRole('link', { name: /Broken Failing/ }).click();
    await detail('Broken')
      .getByText(/Webhook failing: next attempt (now|in )/)
      .waitFor();
    await detail('Broken')
      .getByText(/Every attempt since .* failed\. The receiver refused the connection\. 1 delivery is waiting/)
      .waitFor();
    await page.getByRole('button', { name: 'Waiting 1' }).click();
    await page.getByRole('button', { name: /Waiting.*Plant 3/ }).waitFor();
    await choose('Delete webhook');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('Deleted Broken').waitFor();
    await assert.rejects(client.webhooks.get(failing.id), { code: 'not_found' });
    assert.deepEqual(window.faults, []);
  });

  test('a webhook that the server disabled says so, and differs from a paused one', async () => {
    receiver.answer((_request, response) => response.writeHead(410).end());
    const gone = await client.webhooks.create({ url: receiver.url, name: 'Gone' });
    const paused = await client.webhooks.create({ url: receiver.url, name: 'Resting' });
    await client.webhooks.update(paused.id, { enabled: false });
    await client.create({ id: 10n, name: 'Refused' });
    await open(gone.id);
    await detail('Gone').getByText('Disabled by the server').waitFor();
    await detail('Gone')
      .getByText(/responded with status 410 \(gone\)/)
      .waitFor();
    await page.getByRole('link', { name: /Gone Disabled/ }).waitFor();
    await page.getByRole('link', { name: /Resting Paused.*1 change behind/ }).click();
    await detail('Resting').getByText('Paused by a user').waitFor();
    await detail('Resting')
      .getByText(/It is 1 change behind/)
      .waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('older deliveries are loaded page by page', async () => {
    const { id } = await client.webhooks.create({ url: receiver.url, name: 'Many' });
    const before = receiver.received.length;
    await client.import(Array.from({ length: 60 }, (_, n) => ({ id: BigInt(1000 + n), name: `Plant ${n}` })));
    await receiver.count(before + 60);
    await eventually(async () =>
      assert.equal((await client.webhooks.deliveries(id, { status: 'delivered' })).length, 60),
    );
    await open(id);
    const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem');
    await page.getByRole('img', { name: 'Last 48 deliveries: 48 delivered' }).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await eventually(async () => assert.equal(await rows.count(), 60));
    assert.equal(await page.getByRole('button', { name: 'Load more' }).count(), 0);
    assert.deepEqual(window.faults, []);
  });

  test('on a phone the list and the webhook are pages of their own, and accessible', async () => {
    const { id } = await client.webhooks.create({ url: receiver.url, name: 'Pocket' });
    const before = receiver.received.length;
    await client.create({ id: 20n, name: 'Small' });
    await receiver.count(before + 1);
    const phone = await openWindow(await sharedBrowser(), server.url, {
      viewport: { width: 320, height: 700 },
      colorScheme: 'dark',
    });
    await phone.context.addInitScript((token) => sessionStorage.setItem('plant-store-token', token), secret);
    await phone.page.goto(`${server.url}/#/webhooks`);
    const item = phone.page.getByRole('link', { name: /Pocket Active/ });
    await item.waitFor();
    await requireAccessible(phone.page, 'the list of webhooks');
    await item.click();
    await phone.page.getByRole('button', { name: 'Send test' }).waitFor();
    assert.equal(await item.isVisible(), false);
    await phone.page.getByRole('button', { name: /Delivered.*Plant 20/ }).click();
    await phone.page.getByText('webhook-signature').waitFor();
    await requireAccessible(phone.page, 'a webhook on a phone');
    const overflow = await phone.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px too wide`);
    await phone.page.getByRole('region', { name: 'Pocket' }).getByRole('link', { name: 'Webhooks' }).click();
    await item.waitFor();
    assert.deepEqual(phone.faults, []);
    await phone.context.close();
    await open('whk_unknown');
    await page.getByText('This webhook does not exist any more').waitFor();
    assert.ok((await client.webhooks.get(id)).id === id);
  });

  test('after a lost response, the dialog says that the webhook may exist', async () => {
    await open();
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    await dialog().getByLabel('Address').fill(receiver.url);
    await page.route('**/webhooks', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await route.abort();
    });
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    await dialog().getByText('the webhook may exist already').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: /Active/ }).waitFor();
    assert.equal((await client.webhooks.list()).length, 1);
    window.faults.length = 0;
  });

  test('a second click while a request is in flight sends nothing', async () => {
    const { id } = await client.webhooks.create({ url: receiver.url, name: 'Twice' });
    await open(id);
    await choose('Rotate secret');
    const sent = sentBy(page, 'POST');
    const held = await hold(page, '**/rotate');
    const rotate = dialog().getByRole('button', { name: 'Rotate secret' });
    await rotate.evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await held.release();
    await dialog().getByLabel('Secret', { exact: true }).waitFor();
    assert.deepEqual(sent, [`/webhooks/${id}/rotate`]);
    await dialog().getByText('signed with the old and the new secret').waitFor();
    assert.deepEqual(window.faults, []);
  });
});
