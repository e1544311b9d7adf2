// The list of plants in a real browser, while other clients change the same plants.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { hold, openWindow, requireAccessible, requireFits, STILL, signIn, type Window } from './window.ts';

const MAX_ID = 9223372036854775807n;
const PLANTS = [
  { id: -5n, name: 'Abies balsamea', tag: 'conifer' },
  { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
  { id: 2n, name: 'Été indien', tag: 'herb' },
  { id: 3n, name: 'Ficus lyrata' },
];

describe('the list of plants in the console', needsBrowser, () => {
  let server: TestService;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    const { secret } = await server.addToken({ name: 'shop-sync' });
    others = createClient({ url: server.url, token: secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url, { ...STILL, viewport: { width: 1440, height: 900 } });
    page = window.page;
    await others.import(PLANTS);
    await signIn(page, server.url, server.secret);
  });
  beforeEach(async () => {
    await page.goto(`${server.url}/#/plants?sort=id`);
    await row(1n).waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`.tr[data-id="${id}"]`);
  const ids = (): Promise<string[]> => page.locator('.tbody .c-id').allTextContents();
  const shows = (wanted: string[]): Promise<void> => eventually(async () => assert.deepEqual(await ids(), wanted));
  const dialog = (): Locator => page.getByRole('dialog');
  const said = (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor();
  const search = (): Locator => page.getByRole('searchbox', { name: 'Search plants' });

  function noFaults(): void {
    assert.deepEqual(window.faults.splice(0), []);
  }

  test('a header sorts the list, and the order is kept in the URL', async () => {
    await shows(['-5', '1', '2', '3']);
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await shows(['-5', '2', '3', '1']);
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await shows(['1', '3', '2', '-5']);
    assert.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'descending');
    assert.match(page.url(), /sort=-name/);
    await page.reload();
    await shows(['1', '3', '2', '-5']);
    await page.getByText('4 plants, by name, Z to A').waitFor();
    noFaults();
  });

  test('a search finds beginnings of words, and a number opens the plant with that id', async () => {
    await page.keyboard.press('/');
    await page.getByText('Beginnings of words, or a whole id.').waitFor();
    await page.keyboard.type('ete');
    await shows(['2']);
    await page.getByText('1 of 4').first().waitFor();
    await page.keyboard.press('Escape');
    await shows(['-5', '1', '2', '3']);
    await search().fill('=-5');
    await page.keyboard.press('Enter');
    const plant = page.getByRole('complementary', { name: 'Plant -5' });
    await plant.getByRole('button', { name: 'Abies balsamea' }).waitFor();
    noFaults();
  });

  test('tags and "No tag" filter the list and are removed one by one', async () => {
    await page.keyboard.press('f');
    await page.getByRole('checkbox', { name: /tropical/ }).check();
    await shows(['1']);
    await page.getByRole('checkbox', { name: /No tag/ }).check();
    await shows(['1', '3']);
    await page.getByText('Plants with any of these. 2 plants match.').waitFor();
    await page.keyboard.press('Escape');
    assert.match(page.url(), /tag=tropical&untagged=1/);
    await page.getByRole('button', { name: 'tropical' }).click();
    await shows(['3']);
    await page.getByRole('button', { name: 'Remove tag filter' }).click();
    await shows(['-5', '1', '2', '3']);
    noFaults();
  });

  test('nothing found explains the search and offers what would find something', async () => {
    await search().fill('monstra');
    await page.getByText('beginnings of words').waitFor();
    await page.getByRole('button', { name: 'Search “monst”' }).click();
    await shows(['1']);
    noFaults();
  });

  test('a plant with the largest id is added, exact to the last digit', async () => {
    await page.keyboard.press('n');
    await eventually(async () => assert.equal(await dialog().getByLabel('Id').inputValue(), '4'));
    await dialog().getByLabel('Id').fill('9223372036854775808');
    await dialog().getByLabel('Name').fill('Welwitschia mirabilis');
    await dialog().getByLabel('Tag').fill('desert');
    await dialog().getByRole('button', { name: 'Add plant' }).click();
    await dialog().getByText('An id is a whole number').waitFor();
    await isFocused(dialog().getByLabel('Id'));
    await requireAccessible(page, 'the form for a new plant');
    await dialog().getByLabel('Id').fill(String(MAX_ID));
    await dialog().getByRole('button', { name: 'Add plant' }).click();
    await said('Added Welwitschia mirabilis');
    await row(MAX_ID).waitFor();
    assert.equal((await others.get(MAX_ID)).record.name, 'Welwitschia mirabilis');
    await page.keyboard.press('Control+z');
    await row(MAX_ID).waitFor({ state: 'detached' });
    noFaults();
  });

  test('a used id is reported, and its plant can be opened', async () => {
    const held = await hold(page, '**/plants?*sort=-id*');
    const suggestion = page.waitForRequest(/sort=-id/);
    await page.getByRole('button', { name: 'Add plant' }).click();
    await suggestion;
    await dialog().getByLabel('Id').focus();
    await held.release();
    await page.keyboard.type('3');
    assert.equal(await dialog().getByLabel('Id').inputValue(), '3', 'a late suggestion leaves the field to the user');
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await dialog().getByLabel('Name').fill('Another one');
    await page.keyboard.press('Enter');
    await dialog().getByText('Id 3 belongs to Ficus lyrata').waitFor();
    await dialog().getByRole('button', { name: 'Open it' }).click();
    await page.getByRole('complementary', { name: 'Plant 3' }).waitFor();
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('a plant is deleted from its row and comes back with Undo', async () => {
    const moved = page.getByRole('status').getByText('The rows have just moved');
    const deleted = page.getByRole('status').getByText('Deleted Ficus lyrata');
    const remove = row(3n).getByRole('button', { name: 'Delete Ficus lyrata' });
    await row(3n).hover();
    await remove.click();
    for (await moved.or(deleted).waitFor(); await moved.isVisible(); await moved.or(deleted).waitFor()) {
      await page.getByRole('button', { name: 'Dismiss' }).click(); // The test before has moved the rows.
      await row(3n).hover();
      await remove.click();
    }
    await row(3n).waitFor({ state: 'detached' });
    await assert.rejects(others.get(3n), { code: 'not_found' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(3n).waitFor();
    assert.equal((await others.get(3n)).record.name, 'Ficus lyrata');
    noFaults();
  });

  test('selected plants get a tag, are exported and deleted, and each change can be undone', async () => {
    await row(1n).getByRole('checkbox').click();
    await row(3n)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] });
    const bar = page.getByRole('toolbar', { name: '3 plants selected' });
    await bar.waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      bar.getByRole('button', { name: /Export/ }).click(),
    ]);
    assert.match(file.suggestedFilename(), /\.csv$/);
    await page.keyboard.press('Control+a');
    await page.getByRole('toolbar', { name: '4 plants selected' }).getByRole('button', { name: 'Set tag' }).click();
    await page.getByRole('textbox', { name: 'Tag' }).fill('sold');
    await page.keyboard.press('Enter');
    await said('Set the tag “sold” of 4 plants');
    assert.equal((await others.list({ tag: 'sold' })).records.length, 4);
    await page.keyboard.press('Control+z');
    await said('Set the old tag of 4 plants again');
    assert.deepEqual(await stored(), PLANTS);
    await page.getByRole('checkbox', { name: 'Select all plants' }).click();
    await page.keyboard.press('Delete');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 4 plants' }).click();
    await said('Deleted 4 plants');
    assert.deepEqual(await stored(), []);
    await page.getByRole('button', { name: 'Undo' }).click();
    await said('Restored 4 plants');
    assert.deepEqual(await stored(), PLANTS);
    noFaults();
  });

  test('changes by others appear without a reload', async () => {
    await others.create({ id: 50n, name: 'Nymphaea alba', tag: 'water' });
    await row(50n).waitFor();
    await others.patch(50n, { name: 'Nymphaea odorata' });
    await row(50n).getByText('Nymphaea odorata').waitFor();
    await others.delete(50n);
    await row(50n).waitFor({ state: 'detached' });
    noFaults();
  });

  test('the list works with the keyboard alone', async () => {
    await page.keyboard.press('j');
    await isFocused(row(-5n).getByRole('link'));
    await page.keyboard.press('ArrowDown');
    await isFocused(row(1n).getByRole('link'));
    await page.keyboard.press('x');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByRole('toolbar', { name: '2 plants selected' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('toolbar').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Plant 2' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('complementary', { name: 'Plant 3' }).waitFor();
    await page.keyboard.press('Escape');
    await isFocused(row(3n).getByRole('link'));
    noFaults();
  });

  test('the palette finds plants, pages and commands, and shortcuts can be switched off', async () => {
    await page.keyboard.press('Control+k');
    await page.keyboard.type('mon del');
    await page.getByRole('option', { name: /Monstera deliciosa/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Plant 1' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('dash');
    await page.getByRole('option', { name: /Dashboard/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.getByRole('heading', { level: 1, name: 'Plants' }).waitFor();
    await page.keyboard.press('?');
    await dialog().getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await dialog().getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await page.keyboard.press('n');
    await page.keyboard.press('?');
    await dialog().getByRole('checkbox').check();
    await page.keyboard.press('Escape');
    noFaults();
  });

  test('the theme and the row height are kept', async () => {
    await page.getByRole('button', { name: 'Switch to dark theme' }).click();
    await page.getByRole('button', { name: 'Compact rows' }).click();
    await eventually(async () => assert.equal((await row(1n).boundingBox())?.height, 32));
    await page.reload();
    await row(1n).waitFor();
    await requireAccessible(page, 'the dark theme');
    await page.getByRole('button', { name: 'Switch to light theme' }).click();
    await page.getByRole('button', { name: 'Comfortable rows' }).click();
    await eventually(async () => assert.equal((await row(1n).boundingBox())?.height, 42));
    noFaults();
  });

  test('names keep their width at every window size, and long ones end in an ellipsis', async () => {
    await others.put(2n, { name: `Crataegus ${'×'.repeat(200)}`, tag: 'a very long tag that nobody would write' });
    for (const width of [1440, 1024, 900, 820, 700, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      const name = row(1n).locator('.c-name');
      await eventually(async () => assert.ok(((await name.boundingBox())?.width ?? 0) >= 160, `at ${width} px`));
      await requireFits(page, `the list at ${width} px`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await others.put(2n, { name: 'Été indien', tag: 'herb' });
    noFaults();
  });

  test('on a phone, Select shows checkboxes, and a tap on a row selects it', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await row(1n).getByRole('checkbox').click();
    await row(3n).getByRole('link').click();
    await page.getByRole('toolbar', { name: '2 plants selected' }).waitFor();
    await requireAccessible(page, 'the selection on a phone');
    await requireFits(page, 'the selection on a phone');
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByRole('toolbar').waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1440, height: 900 });
    noFaults();
  });

  test('while the first plants load, rows without text stand in their places', async () => {
    const held = await hold(page, '**/plants?**');
    await page.reload();
    await page.locator('.tr.sk').first().waitFor();
    await held.release();
    await row(1n).waitFor();
    assert.equal(await page.locator('.tr.sk').count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    noFaults();
  });

  async function stored(): Promise<{ id: bigint; name: string; tag?: string }[]> {
    const { records } = await others.list();
    return records.map(({ id, name, tag }) => ({ id, name, ...(tag !== undefined && { tag }) }));
  }

  function isFocused(element: Locator): Promise<void> {
    return eventually(async () =>
      assert.ok(await element.evaluate((it) => it === document.activeElement), `${element}`),
    );
  }
});
