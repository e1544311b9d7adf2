// The console in a real browser under faults: a server that fails or stops, late responses, double clicks, and sessions
// that end during work.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Locator, Page, Request } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { freePort } from '../../testing/free-port.ts';
import { besideServer, makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually, until } from '../../testing/until.ts';
import { BUSY, hold, openWindow, sentBy, shown, signIn, startOver, type Window } from './window.ts';

/** Longer than the console waits before a retry. */
const RETRY_MS = 6000;

describe('the console under faults', needsBrowser, () => {
  const folder = makeFolder();
  let start: () => Promise<TestService>;
  let server: TestService;
  let secret: string;
  let others: PlantStoreClient;
  let window: Window;
  let page: Page;

  before(async () => {
    const env = { PORT: String(await freePort()) };
    start = () => startTestService({ folder, env });
    server = await start();
    secret = server.secret;
    others = createClient({ url: server.url, token: secret });
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
    await page.clock.install();
    await others.import(Array.from({ length: 30 }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}`, tag: 'some' })));
  });
  beforeEach(async () => {
    await startOver(window, server.url, secret);
    await row(1n).waitFor();
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`tr[data-id="${id}"]`);
  const ids = (): Promise<string[]> => page.locator('tbody tr td.id').allTextContents();
  const inDialog = (): Locator => page.getByRole('dialog');

  test('a failed search shows an error and no earlier results, and is retried', async () => {
    await page.route('**/plants?**', (route) => route.fulfill(BUSY));
    await page.getByRole('searchbox').fill('plant 7');
    await page.getByText('The store is busy').waitFor();
    await row(1n).waitFor({ state: 'detached' });
    const refreshed = page.waitForResponse('**/plants?**');
    await others.patch(3n, { tag: 'other' });
    await refreshed;
    await shown(page);
    assert.ok(await page.getByText('The store is busy').isVisible(), 'a change elsewhere does not clear the error');
    await page.unroute('**/plants?**');
    await page.clock.fastForward(RETRY_MS);
    await row(7n).waitFor();
    await page.getByText('The store is busy').waitFor({ state: 'detached' });
  });

  test('pressing Enter twice sends one change and causes no conflict', async () => {
    await row(5n).getByRole('button', { name: 'Edit' }).click();
    const changed = sentBy(page, 'PATCH');
    const name = inDialog().getByLabel('Name');
    await name.fill('Changed once');
    await name.evaluate((field: HTMLTextAreaElement) => {
      field.form?.requestSubmit();
      field.form?.requestSubmit();
    });
    await inDialog().waitFor({ state: 'detached' });
    await page.getByText('Updated Changed once').waitFor();
    await shown(page);
    assert.deepEqual(changed, ['/plants/5']);
    assert.equal(await inDialog().count(), 0);
  });

  test('a late response does not affect a dialog that was opened since', async () => {
    const held = await hold(page, '**/plants');
    await page.getByRole('button', { name: 'Add plant' }).click();
    await inDialog().getByLabel('Id').fill('500');
    await inDialog().getByRole('button', { name: 'Add plant' }).click();
    await page.keyboard.press('Escape');
    await row(6n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Name').fill('Being written');
    await held.release();
    await page.getByText('Added plant 500').waitFor();
    assert.equal(await inDialog().getByLabel('Name').inputValue(), 'Being written');
  });

  test('a late response for an id is not shown in a later search', async () => {
    const held = await hold(page, '**/plants/7');
    const asked = page.waitForRequest('**/plants/7');
    await page.getByRole('searchbox').fill('7');
    await asked;
    await page.getByRole('searchbox').fill('8');
    await row(8n).waitFor();
    await held.release();
    await eventually(async () => assert.deepEqual(await ids(), ['8']));
  });

  test('a reload for an earlier search does not replace the results of a new one', async () => {
    await others.create({ id: 888n, name: 'Eight' });
    const held = await hold(page, '**/plants?**', (url) => !url.includes('q='));
    await others.patch(1n, { tag: 'changed' });
    await page.waitForRequest('**/plants?**'); // The page reloads because of the change.
    await page.getByRole('searchbox').fill('888');
    await row(888n).waitFor();
    await held.release();
    await eventually(async () => assert.deepEqual(await ids(), ['888']));
  });

  test('a plant whose request failed is not reported as missing', async () => {
    await others.create({ id: 777n, name: 'Seven' });
    await page.route('**/plants/777', (route) => route.fulfill(BUSY));
    await page.getByRole('searchbox').fill('777');
    await page.getByText('0 plants').waitFor();
    assert.equal(await page.getByText('No plants match').count(), 0);
    await page.unroute('**/plants/777');
    await page.clock.fastForward(RETRY_MS);
    await row(777n).waitFor();
  });

  test('a dashboard without a summary is retried and does not read the change log from its start', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.route('**/plants/summary', (route) => route.fulfill(BUSY));
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('The store is busy').waitFor();
    assert.deepEqual(
      asked.filter((url) => url.includes('/events')),
      [],
    );
    await page.unroute('**/plants/summary');
    await page.clock.fastForward(RETRY_MS);
    await page.getByRole('region', { name: 'Latest changes' }).getByText('Seven').waitFor();
  });

  test('nothing is sent with a token after sign-out', async () => {
    const held = await hold(page, '**/plants/20');
    await row(20n).getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await held.release();
    assert.equal((await others.get(20n)).record.name, 'Plant 20');
  });

  test('a token that could not be checked is kept and retried, one attempt at a time', async () => {
    await page.route('**/tokens/self', (route) => route.fulfill({ ...BUSY, status: 500 }));
    await page.reload();
    const again = page.getByRole('button', { name: 'Retry' });
    await again.waitFor();
    await page.unroute('**/tokens/self');
    const streams = new Set<Request>();
    const tries: Promise<unknown>[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/events')) streams.add(request);
      if (request.url().includes('/tokens/self')) tries.push(request.response());
    });
    await again.evaluate((button: HTMLButtonElement) => {
      for (let n = 0; n < 5; n++) button.click();
    });
    await row(1n).waitFor();
    await until(() => streams.size > 0);
    await Promise.all(tries);
    await shown(page);
    assert.equal(streams.size, 1);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    await eventually(async () => {
      assert.ok(await page.getByLabel('Token').evaluate((field) => field === document.activeElement));
    });
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });

  test('a user whose session ends during an edit sees the unsaved changes', async () => {
    const { id, secret } = await server.addToken({ name: 'short-lived' });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signIn(page, server.url, secret);
    await row(9n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Name').fill('Long in the writing');
    await besideServer(server.databaseUrl, (store) => store.revokeToken(id, Date.now()));
    await page.getByText('You were signed out').waitFor();
    const lost = page.getByText('Your changes to plant 9 are not saved: name “Long in the writing”');
    await lost.waitFor();
    await page.getByLabel('Token').fill('pst_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await eventually(async () => assert.equal(await page.getByRole('alert').locator('p').count(), 3));
    assert.ok(await lost.isVisible(), 'a wrong token does not remove the message');
  });

  test('the console reports that the server has stopped, and reconnects after its restart', async () => {
    await server.stop();
    await page.getByText('The server is unreachable').waitFor();
    server = await start();
    await page.getByText('The server is unreachable').waitFor({ state: 'detached' });
    await others.create({ id: -1n, name: 'After the restart' });
    await row(-1n).waitFor();
  });
});
