// Deleting in the console in a real browser: Delete removes only the plant that the user saw, and Undo restores it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { BUSY, hold, openWindow, sentBy, shown, startOver, type Window } from './window.ts';

/** Longer than the console ignores input on a row or a message that has just moved. */
const SETTLED_MS = 600;

describe('deleting in the console', needsBrowser, () => {
  let server: TestService;
  let others: PlantStoreClient;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    others = createClient({ url: server.url, token: server.secret });
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
    await page.clock.install();
    await others.import(Array.from({ length: 30 }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}`, tag: 'some' })));
  });
  beforeEach(async () => {
    await startOver(window, server.url, server.secret);
    await row(1n).waitFor();
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`tr[data-id="${id}"]`);

  test('a click on Delete is ignored if another plant has just moved under the pointer', async () => {
    await others.import(Array.from({ length: 6 }, (_, n) => ({ id: BigInt(n - 30), name: `On top ${n}` })));
    await row(-30n).waitFor();
    await page.clock.fastForward(SETTLED_MS);
    const deleted = sentBy(page, 'DELETE');
    await page.route('**/plants?**', async (route) => {
      await sleep(600); // longer than a double click
      await route.continue();
    });
    const removeOf = (id: bigint) => row(id).getByRole('button', { name: 'Delete' });
    assert.equal(await clickWhenMoved(removeOf(-30n), { isFirstClicked: true }), 'Delete On top 1');
    await page.clock.fastForward(2000); // The next click is not part of a double click.
    const found = clickWhenMoved(removeOf(-27n), { isFirstClicked: false });
    await page.locator('body[data-watched]').waitFor();
    await others.delete(-28n); // Another client deletes a plant above it.
    assert.equal(await found, 'Delete On top 4');
    await page.getByText('The rows have just moved, so nothing was deleted').last().waitFor(); // twice on slow machines
    await shown(page);
    assert.deepEqual(deleted, ['/plants/-30']);
    const left = (await others.list({ limit: 4 })).records.map(({ id }) => id);
    assert.deepEqual(left, [-29n, -27n, -26n, -25n]);
  });

  test('Delete keeps a plant that differs from the one on the page', async () => {
    await page.route('**/plants?**', (route) => route.fulfill(BUSY)); // The page is out of date from here on.
    await others.put(21n, { name: 'Precious' });
    await page.getByText('The store is busy').waitFor();
    await page.clock.fastForward(SETTLED_MS); // The message moves the rows.
    await row(21n).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The plant has changed, so it was not deleted').waitFor();
    assert.equal((await others.get(21n)).record.name, 'Precious');
    await page.unroute('**/plants?**');
    await row(21n).getByText('Precious').waitFor();
  });

  test('a failed Undo reports the reason and can be repeated', async () => {
    await row(22n).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Deleted Plant 22').waitFor();
    await others.create({ id: 22n, name: 'In its place' });
    await page.clock.fastForward(SETTLED_MS);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Cannot restore Plant 22: id 22 now belongs to another plant').waitFor();
    await others.delete(22n);
    await page.clock.fastForward(SETTLED_MS);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Restored Plant 22').waitFor();
    assert.equal((await others.get(22n)).record.tag, 'some');
  });

  test('after Delete by keyboard, Undo has the focus; deleting with pauses works without interruption', async () => {
    await row(12n)
      .getByRole('button', { name: 'Delete' })
      .evaluate((button: HTMLButtonElement) => {
        button.click(); // as Enter does
        button.click(); // a repeated key
      });
    await row(12n).waitFor({ state: 'detached' });
    await page.clock.fastForward(SETTLED_MS);
    await page.keyboard.press('Enter');
    await row(12n).waitFor();
    for (const id of [13n, 14n, 15n]) {
      await row(id).getByRole('button', { name: 'Delete' }).click();
      await row(id).waitFor({ state: 'detached' });
      await page.clock.fastForward(SETTLED_MS);
    }
  });

  test('the message about a delete does not take the focus from a user who is typing', async () => {
    const held = await hold(page, '**/plants/23');
    await row(23n).getByRole('button', { name: 'Delete' }).press('Enter');
    await page.getByRole('searchbox').focus();
    await held.release();
    await page.getByText('Deleted Plant 23').waitFor();
    await page.clock.fastForward(SETTLED_MS);
    await page.keyboard.type('plant 1');
    assert.equal(await page.getByRole('searchbox').inputValue(), 'plant 1');
  });

  /** Clicks at the button's position as soon as another one is there, and returns the label of that one. */
  function clickWhenMoved(button: Locator, { isFirstClicked }: { isFirstClicked: boolean }): Promise<string> {
    return button.evaluate(async (first, isFirstClicked) => {
      const { x, y } = first.getBoundingClientRect();
      const at = () => document.elementFromPoint(x + 5, y + 5);
      const click = () => at()?.dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
      if (isFirstClicked) click();
      await new Promise<void>((moved) => {
        const observer = new MutationObserver(() => at() !== first && moved());
        observer.observe(document.body, { childList: true, subtree: true });
        document.body.dataset.watched = 'true';
      });
      delete document.body.dataset.watched;
      click();
      return at()?.getAttribute('aria-label') ?? '';
    }, isFirstClicked);
  }
});
