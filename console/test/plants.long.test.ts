// The list of plants when requests fail, arrive late or cross the changes of other users.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page, Request } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { addToken, besideServer, startServer, type TestServer } from '../../testing/server.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually, until } from '../../testing/until.ts';
import { BUSY, hold, openWindow, sentBy, shown, signIn, signOut, startOver, type Window } from './window.ts';

/** Time after which a click is meant for the rows that are shown. */
const SETTLED_MS = 1000;

describe('the list of plants under difficulties', needsBrowser, () => {
  let server: TestServer;
  let secret: string;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startServer();
    ({ secret } = await addToken(server.databaseUrl, { name: 'nursery' }));
    others = createClient({ url: server.url, token: server.secret });
    await others.import(
      Array.from({ length: 40 }, (_, n) => ({ id: BigInt(n + 1), name: `Plant ${n + 1}`, tag: 'some' })),
    );
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
    await page.clock.install();
  });
  beforeEach(async () => {
    await startOver(window, server.url, secret);
    await page.goto(`${server.url}/#/plants?sort=id`);
    await row(1n).waitFor();
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`.tr[data-id="${id}"]`);
  const ids = (): Promise<string[]> => page.locator('.tbody .c-id').allTextContents();
  const search = (): Locator => page.getByRole('searchbox');
  const remove = (id: bigint): Locator => row(id).getByRole('button', { name: /^Delete/ });
  const said = (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor();

  test('a click on Delete is ignored if another plant has just moved under the pointer', async () => {
    const deleted = sentBy(page, 'DELETE');
    await others.create({ id: -1n, name: 'On top' });
    const clicked = page.evaluate(clickAsRowsMove, {
      shown: '.tr[data-id="-1"]',
      clicked: '.tr[data-id="1"] [aria-label^=Delete]',
    });
    await page.clock.fastForward(3000); // The list is at its top, so it loads again.
    await clicked;
    await said('The rows have just moved, so nothing was deleted');
    await page.clock.fastForward(SETTLED_MS);
    await remove(-1n).evaluate((button: HTMLElement) => button.click());
    await said('Deleted On top');
    assert.deepEqual(deleted, ['/plants/-1']);
  });

  test('Delete keeps a plant that differs from the one on the page', async () => {
    await page.getByRole('button', { name: 'Live' }).click(); // The page is out of date from here on.
    await others.put(12n, { name: 'Precious' });
    await page.getByRole('button', { name: '1 new change' }).waitFor();
    await page.clock.fastForward(SETTLED_MS);
    await remove(12n).evaluate((button: HTMLElement) => button.click());
    await said('The plant has changed, so it was not deleted');
    assert.equal((await others.get(12n)).record.name, 'Precious');
  });

  test('a failed Undo reports the reason and can be repeated', async () => {
    await remove(11n).evaluate((button: HTMLElement) => button.click());
    await said('Deleted Plant 11');
    await others.create({ id: 11n, name: 'In its place' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await said(/1 plant not restored/);
    await others.delete(11n);
    await page.getByRole('button', { name: 'Undo' }).click();
    await said('Restored Plant 11');
    assert.equal((await others.get(11n)).record.tag, 'some');
  });

  test('a failed search shows an error and no earlier results, and can be tried again', async () => {
    await page.route('**/plants?**', (route) => route.fulfill(BUSY));
    await search().fill('plant 7');
    await page.clock.fastForward(500);
    await page.getByText('The store is busy').waitFor();
    await row(1n).waitFor({ state: 'detached' });
    await page.unroute('**/plants?**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await row(7n).waitFor();
    await page.getByText('The store is busy').waitFor({ state: 'detached' });
  });

  test('a late response for an earlier search does not replace the results of a new one', async () => {
    const held = await hold(page, '**/plants?**', (url) => url.includes('q=plant+7'));
    await search().fill('plant 7');
    await page.clock.fastForward(500);
    await search().fill('plant 8');
    await page.clock.fastForward(500);
    await row(8n).waitFor();
    await held.release();
    await eventually(async () => assert.deepEqual(await ids(), ['8']));
  });

  test('a late response does not affect a dialog that was opened since', async () => {
    const held = await hold(page, '**/plants');
    await page.getByRole('button', { name: 'Add plant' }).click();
    await page.getByRole('dialog').getByLabel('Id').fill('500');
    await page.getByRole('dialog').getByRole('button', { name: 'Add plant' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.getByRole('dialog').getByLabel('Name').fill('Being written');
    await held.release();
    await page.getByText('Added plant 500').waitFor();
    assert.equal(await page.getByRole('dialog').getByLabel('Name').inputValue(), 'Being written');
  });

  test('saving twice sends one change and causes no conflict', async () => {
    await row(5n).getByRole('link').click();
    const changed = sentBy(page, 'PATCH');
    await page.getByTitle('Edit name (E)').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Changed once');
    await page.getByRole('button', { name: /^Save/ }).evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await said('Saved Changed once');
    await shown(page);
    assert.deepEqual(changed, ['/plants/5']);
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('an edit whose response was lost is not reported as a conflict', async () => {
    await row(6n).getByRole('link').click();
    await page.getByTitle('Edit name (E)').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Stored without an answer');
    let isLost = false;
    await page.route('**/plants/6', async (route) => {
      if (route.request().method() !== 'PATCH' || isLost) return route.continue();
      isLost = true;
      await route.fetch();
      await route.abort();
    });
    await page.getByRole('button', { name: /^Save/ }).click();
    await page.getByText('The server does not respond').first().waitFor();
    await page.clock.fastForward(6000); // The stream reconnects, so that the page counts as connected again.
    await page.getByRole('button', { name: /^Save/ }).click();
    await said('Saved Stored without an answer');
    assert.equal((await others.get(6n)).record.name, 'Stored without an answer');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('nothing is sent with a token after sign-out', async () => {
    const held = await hold(page, '**/plants/10');
    await remove(10n).evaluate((button: HTMLElement) => button.click());
    await signOut(page);
    await held.release();
    assert.equal((await others.get(10n)).record.name, 'Plant 10');
  });

  test('a token that could not be checked is kept and retried, one attempt at a time', async () => {
    await page.route('**/tokens/self', (route) => route.fulfill({ ...BUSY, status: 500 }));
    await page.reload();
    const again = page.getByRole('button', { name: 'Try now' });
    await page.clock.fastForward(5000);
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
    await signOut(page);
    await eventually(async () => {
      assert.ok(await page.getByLabel('Token').evaluate((field) => field === document.activeElement));
    });
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });

  test('a user whose session ends during an edit sees the unsaved changes', async () => {
    const short = await addToken(server.databaseUrl, { name: 'short-lived' });
    await signOut(page);
    await signIn(page, server.url, short.secret);
    await page.goto(`${server.url}/#/plants?sort=id&id=9`);
    await page.getByTitle('Edit name (E)').click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Long in the writing');
    await besideServer(server.databaseUrl, (store) => store.revokeToken(short.token.id, Date.now()));
    await page.getByText('You were signed out').waitFor();
    const lost = page.getByText('Your changes to plant 9 are not saved: name “Long in the writing”');
    await lost.waitFor();
    await page.getByLabel('Token').fill('pst_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await shown(page);
    assert.ok(await lost.isVisible(), 'a wrong token does not remove the message');
  });

  test('rows stay in place below the top when others add a plant above them', async () => {
    await others.import(
      Array.from({ length: 300 }, (_, n) => ({ id: BigInt(10_000 + n), name: `Row ${n}`, tag: 'rows' })),
    );
    await page.goto(`${server.url}/#/plants?tag=rows&sort=id`);
    await row(10_000n).waitFor();
    await page.getByRole('region', { name: 'List of plants' }).evaluate((box) => box.scrollTo(0, 3360));
    await row(10_085n).waitFor();
    await shown(page);
    const topOf = () => row(10_085n).evaluate((tr) => tr.getBoundingClientRect().top);
    const was = await topOf();
    await others.create({ id: 9999n, name: 'Above', tag: 'rows' });
    await page.getByRole('button', { name: '1 new change' }).waitFor();
    assert.equal(await topOf(), was);
    await page.getByRole('button', { name: '1 new change' }).click();
    await row(9999n).waitFor();
  });

  test('scrolling through 1,500 plants shows each of them and keeps few rows on the page', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => ({ id: BigInt(1000 + n), name: `Many ${n}`, tag: 'many' }));
    await others.import(many);
    await page.goto(`${server.url}/#/plants?tag=many&sort=id`);
    await row(1000n).waitFor();
    const scroller = page.getByRole('region', { name: 'List of plants' });
    const seen = new Set(await ids());
    for (let rounds = 0; rounds < 200 && !seen.has('2499'); rounds++) {
      await scroller.evaluate((box) => box.scrollBy(0, 800));
      await eventually(async () => assert.ok(await scroller.evaluate(isFilled)));
      for (const id of await ids()) seen.add(id);
    }
    assert.deepEqual(
      many.map(({ id }) => String(id)).filter((id) => !seen.has(id)),
      [],
    );
    await page.getByText('1,500 plants, by id').waitFor();
    assert.ok((await ids()).length <= 60, 'rows on the page');
    await page.getByRole('button', { name: 'To the top' }).click();
    await row(1000n).waitFor();
  });
});

/** True if the last visible row of the list is loaded. A scroll shows rows in a later frame. */
function isFilled(box: Element): boolean {
  const { left, bottom } = box.getBoundingClientRect();
  return document.elementFromPoint(left + 300, bottom - 40)?.closest('.tr[data-id]') != null;
}

/** Clicks an element in the frame after another one appears, without the time that a request of the test would take. */
function clickAsRowsMove({ shown, clicked }: { shown: string; clicked: string }): Promise<void> {
  return new Promise((done) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector(shown)) return;
      observer.disconnect();
      requestAnimationFrame(() => {
        document.querySelector<HTMLElement>(clicked)?.click();
        done();
      });
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
}
