// The webhooks page of the console in a real browser.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openView, openWindow, STILL, signIn, type Window } from './window.ts';

describe('the webhooks page', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let receiver: Receiver;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    const { secret } = await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] });
    client = createClient({ url: server.url, token: secret });
    await client.create({ id: 1n, name: 'Before any webhook' });
    receiver = await startReceiver();
    window = await openWindow(await sharedBrowser(), server.url, STILL);
    page = window.page;
    await signIn(page, server.url, secret);
  });
  beforeEach(() => openView(page, 'Webhooks'));
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

  test('a webhook is added, and does not claim to have delivered anything', async () => {
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    await dialog().getByLabel('Address').fill('shop');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    await dialog().getByText('Enter a full address').waitFor();
    await dialog().getByLabel('Address').fill('ftp://shop.example');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    const problem = dialog().getByText(/^The address must/);
    await problem.waitFor();
    assert.equal(await dialog().getByLabel('Address').getAttribute('aria-invalid'), 'true');
    await dialog().getByLabel('Address').fill(receiver.url);
    await dialog().getByLabel('Name optional').fill('Stock list');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    assert.match((await dialog().getByLabel('Secret', { exact: true }).textContent()) ?? '', /^whsec_/);
    await dialog().getByText('Standard Webhooks').waitFor();
    await dialog().getByRole('button', { name: 'Done' }).click();
    await dialog().getByRole('button', { name: 'Close without copying' }).click();
    const { position } = (await client.webhooks.list())[0] ?? {};
    await detail('Stock list').getByText(`No change delivered yet. It starts after change ${position}`).waitFor();
    await page.waitForURL(/#\/webhooks\?id=whk_/);
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('a test shows the response of the receiver', async () => {
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/Test delivered: status 200 after [\d,]+ ms/).waitFor();
    receiver.answer((_request, response) => response.writeHead(500).end('<b>broken</b>'));
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText(/Test not delivered: status 500 after [\d,]+ ms/).waitFor();
    await page.getByText('<b>broken</b>').waitFor();
    receiver.answer((_request, response) => response.end('ok'));
    assert.deepEqual(window.faults, []);
  });

  test('a webhook is paused, resumed, edited and replayed', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused by a user').waitFor();
    assert.equal((await client.webhooks.list())[0]?.status, 'disabled');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Paused by a user').waitFor({ state: 'detached' });
    await choose('Edit');
    await dialog().getByLabel('Name optional').fill('');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'PATCH'),
      dialog().getByRole('button', { name: 'Save webhook' }).click(),
    ]);
    assert.deepEqual(request.postDataJSON(), { name: null });
    await page.getByRole('heading', { level: 2, name: new URL(receiver.url).host }).waitFor();
    const before = receiver.received.length;
    await choose('Replay from a change');
    await dialog().getByLabel('First change').fill('1');
    await dialog().getByLabel('Last change').fill('1');
    await dialog().getByRole('button', { name: 'Replay up to 1 change' }).click();
    await receiver.count(before + 1);
    assert.equal(receiver.received.at(-1)?.seq, 1);
    assert.deepEqual(window.faults, []);
  });
});
