// A list that is longer than the greatest height of an element in a browser.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openWindow, signIn, type Window } from './window.ts';

const PLANTS = 200_000;

describe('a list of 200,000 plants', needsBrowser, () => {
  let server: TestServer;
  let client: PlantStoreClient;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startServer();
    client = createClient({ url: server.url, token: server.secret });
    const lines = Array.from({ length: PLANTS }, (_, n) => `${n + 1},Plant ${n + 1},${n % 2 === 0 ? 'even' : 'odd'}\n`);
    await client.importFile(new Blob(['id,name,tag\n', ...lines]), { type: 'text/csv' });
    window = await openWindow(await sharedBrowser(), server.url, { viewport: { width: 1440, height: 900 } });
    page = window.page;
    await signIn(page, server.url, server.secret);
    await page.goto(`${server.url}/#/plants?sort=id`);
    await row(1).waitFor();
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: number): Locator => page.locator(`.tr[data-id="${id}"]`);
  const scroller = (): Locator => page.getByRole('region', { name: 'List of plants' });
  const ids = async (): Promise<number[]> => (await page.locator('.rows .c-id').allTextContents()).map(Number);

  /** Rows are in order without a gap, and loaded. */
  async function isWhole(): Promise<void> {
    await eventually(async () => {
      assert.equal(await page.locator('.rows .sk').count(), 0);
      const shown = await ids();
      assert.deepEqual(
        shown,
        shown.map((_, index) => (shown[0] ?? 0) + index),
      );
    });
  }

  /** Drags the scrollbar to this part of the list, and waits for its rows. */
  async function scrollTo(part: number): Promise<void> {
    await scroller().evaluate((box, at) => box.scrollTo(0, box.scrollHeight * at), part);
    await eventually(async () => assert.ok((await ids()).some((id) => Math.abs(id - PLANTS * part) < 50)));
    await isWhole();
  }

  test('dragging the scrollbar shows the proportional rows, and small moves go on from there', async () => {
    await scrollTo(0.5);
    const [first = 0] = await ids();
    await scroller().evaluate((box) => box.scrollBy(0, 420));
    await eventually(async () => assert.equal((await ids())[0], first + 10));
    await isWhole();
  });

  test('the ends are reached by buttons, keys and small moves', async () => {
    await page.getByRole('button', { name: 'To the end' }).click();
    await row(PLANTS).waitFor();
    await isWhole();
    for (let moves = 0; moves < 5; moves++) await scroller().evaluate((box) => box.scrollBy(0, -300));
    await isWhole();
    await scroller().evaluate((box) => box.scrollBy(0, 5000));
    await row(PLANTS).waitFor();
    await scroller().focus();
    await page.keyboard.press('Home');
    await row(1).waitFor();
    await page.keyboard.press('End');
    await row(PLANTS).waitFor();
  });

  test('a plant in the middle is opened, and the arrow keys walk through its neighbours', async () => {
    await scrollTo(0.7);
    const id = (await ids())[15] ?? 0;
    await row(id).getByRole('link').click();
    await page.getByText(`${id.toLocaleString('en')} of 200,000`).waitFor();
    for (let next = id + 1; next < id + 30; next++) {
      await page.keyboard.press('ArrowDown');
      await page.getByRole('complementary', { name: `Plant ${next}` }).waitFor();
    }
    await page.keyboard.press('Escape');
  });

  test('a filter that matches too many plants for another order is shown by id, and says so', async () => {
    await page.goto(`${server.url}/#/plants?tag=even&sort=name`);
    await page.getByText('100,000 plants, by id, lowest first (other orders require at most 10,000 matches)').waitFor();
    await row(1).waitFor();
    assert.deepEqual(
      window.faults.filter((fault) => !fault.includes('400')),
      [],
    );
  });

  test('the list shrinks to what is left', async () => {
    await page.goto(`${server.url}/#/plants?sort=id&tag=none`);
    await client.put(1n, { name: 'One', tag: 'none' });
    await row(1).waitFor();
    await page.getByText('1 plant, by id').waitFor();
  });
});
