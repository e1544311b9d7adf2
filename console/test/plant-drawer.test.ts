// One plant beside the list: edits, conflicts, history, restore.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openWindow, requireAccessible, requireFits, STILL, signIn, type Window } from './window.ts';

describe('the drawer of a plant in the console', needsBrowser, () => {
  let server: TestService;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let id = 100n;

  before(async () => {
    server = await startTestService();
    const { secret } = await server.addToken({ name: 'shop-sync' });
    others = createClient({ url: server.url, token: secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url, { ...STILL, viewport: { width: 1440, height: 900 } });
    page = window.page;
    await signIn(page, server.url, server.secret);
  });
  beforeEach(async () => {
    id++;
    await others.create({ id, name: 'Acer saccharum', tag: 'tree' });
    await open(page, id);
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const drawer = (on = page): Locator => on.getByRole('complementary', { name: `Plant ${id}` });
  const dialog = (): Locator => page.getByRole('dialog');
  const said = (text: string | RegExp, on = page): Promise<void> => on.getByRole('status').getByText(text).waitFor();

  async function open(on: Page, wanted: bigint): Promise<void> {
    await on.goto(`${server.url}/#/plants?id=${wanted}`);
    await drawer(on).getByRole('heading', { name: 'Acer saccharum' }).waitFor();
  }

  async function editName(name: string, on = page): Promise<void> {
    await drawer(on).getByTitle('Edit name (E)').click();
    await drawer(on).getByRole('textbox', { name: 'Name' }).fill(name);
  }

  async function editTag(tag: string, on = page): Promise<void> {
    await drawer(on).getByTitle('Edit tag (T)').click();
    await drawer(on).getByRole('combobox', { name: 'Tag' }).fill(tag);
    await on.keyboard.press('Escape');
  }

  async function texts(): Promise<(string | undefined)[]> {
    const { record } = await others.get(id);
    return [record.name, record.tag];
  }

  function noFaults(allowed = /^$/): void {
    assert.deepEqual(
      window.faults.splice(0).filter((fault) => !allowed.test(fault)),
      [],
    );
  }

  test('an edit in place sends only the edited field', async () => {
    await page.keyboard.press('e');
    await page.keyboard.type('Acer rubrum');
    await drawer().getByText('1 unsaved change').waitFor();
    await page.keyboard.press('Enter');
    await said('Saved Acer rubrum');
    assert.deepEqual(await texts(), ['Acer rubrum', 'tree']);
    await drawer().getByTitle('Edit tag (T)').click();
    await drawer().getByRole('button', { name: 'No tag' }).click();
    await page.keyboard.press('Control+Enter');
    await eventually(async () => assert.deepEqual(await texts(), ['Acer rubrum', undefined]));
    noFaults();
  });

  test('two windows edit different fields of one plant: both edits survive', async () => {
    const second = await openWindow(browser, server.url, STILL);
    await signIn(second.page, server.url, server.secret);
    await open(second.page, id);
    await editName('Acer saccharum Marshall');
    await editTag('maple', second.page);
    await drawer(second.page).getByRole('button', { name: /^Save/ }).click();
    await said('Saved Acer saccharum', second.page);
    await drawer().getByRole('button', { name: /^Save/ }).click();
    await said('The tag changed meanwhile: both are kept');
    assert.deepEqual(await texts(), ['Acer saccharum Marshall', 'maple']);
    assert.equal(await dialog().count(), 0);
    await second.context.close();
    noFaults(/412/);
  });

  test('a field that both sides changed must be chosen, and Escape keeps the edit', async () => {
    await editName('Acer saccharum Marshall');
    await editTag('orchard');
    await others.patch(id, { tag: 'maple' });
    await drawer().getByRole('button', { name: /^Save/ }).click();
    await dialog().getByText('Both changed it').waitFor();
    await dialog().getByText('Only you changed it').waitFor();
    await dialog().getByText('shop-sync').first().waitFor();
    assert.ok(await dialog().getByRole('button', { name: 'Save result' }).isDisabled());
    await requireAccessible(page, 'a conflict');
    await requireFits(page, 'a conflict');
    await page.keyboard.press('Escape');
    await drawer().getByText('2 unsaved changes').waitFor();
    await drawer().getByRole('button', { name: /^Save/ }).click();
    await dialog().getByRole('group', { name: /Tag/ }).getByRole('radio').first().check();
    await others.patch(id, { tag: 'sugar' });
    await dialog().getByRole('button', { name: 'Save result' }).click();
    await dialog().getByText('The plant has changed again').waitFor();
    await dialog().getByRole('button', { name: 'Save result' }).click();
    await said('Saved Acer saccharum Marshall');
    assert.deepEqual(await texts(), ['Acer saccharum Marshall', 'sugar']);
    noFaults(/412/);
  });

  test('the tags in use are suggested, and the rest of the page stays visible to screen readers', async () => {
    await drawer().getByTitle('Edit tag (T)').click();
    const field = drawer().getByRole('combobox', { name: 'Tag' });
    await others.create({ id: id + 1000n, name: 'Acer circinatum', tag: 'maple' });
    await eventually(async () => {
      await field.fill('m');
      await field.fill('ma');
      assert.equal(await page.getByRole('option', { name: /^maple/ }).count(), 1);
    });
    await requireAccessible(page, 'the suggested tags');
    await page.getByRole('option', { name: /^maple/ }).click();
    assert.equal(await field.inputValue(), 'maple');
    await drawer().getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor();
    await page.keyboard.press('Escape');
    noFaults();
  });

  test('a plant that was deleted during an edit can be stored again', async () => {
    await editName('Acer nigrum');
    await others.delete(id);
    await drawer().getByRole('button', { name: /^Save/ }).click();
    await dialog().getByText('deleted').first().waitFor();
    await dialog().getByRole('button', { name: 'Store it again' }).click();
    await said('Saved Acer nigrum');
    assert.deepEqual(await texts(), ['Acer nigrum', 'tree']);
    noFaults(/404|412/);
  });

  test('leaving an unsaved edit asks, and another page keeps it', async () => {
    await editTag('unsaved');
    await page.keyboard.press('Escape');
    await page
      .getByRole('alertdialog', { name: 'Discard 1 unsaved change?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await page.getByRole('link', { name: 'Dashboard' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await open(page, id);
    await drawer().getByText('1 unsaved change').waitFor();
    await drawer().getByRole('button', { name: 'Close' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
    await drawer().waitFor({ state: 'detached' });
    assert.deepEqual(await texts(), ['Acer saccharum', 'tree']);
    noFaults();
  });

  test('the history shows who changed what, and an earlier version is restored and undone', async () => {
    await others.patch(id, { name: 'Acer saccharum Marshall' });
    const history = drawer().getByRole('region', { name: 'History' });
    await history.getByText('shop-sync').first().waitFor();
    await history.locator('ins', { hasText: 'Marshall' }).waitFor();
    await history.getByRole('button', { name: 'Restore this version' }).click();
    await dialog().getByText('unchanged').waitFor();
    await dialog().getByRole('button', { name: 'Restore' }).click();
    await said(/^Restored an earlier version/);
    assert.deepEqual(await texts(), ['Acer saccharum', 'tree']);
    await page.keyboard.press('Control+z');
    await said('Undone');
    assert.deepEqual(await texts(), ['Acer saccharum Marshall', 'tree']);
    noFaults();
  });

  test('a change by another client appears at once, and a deletion is reported', async () => {
    await others.patch(id, { tag: 'maple' });
    await drawer().getByTitle('Edit tag (T)').getByText('maple').waitFor();
    await others.delete(id);
    await drawer().getByText(`No plant has id ${id}`).waitFor();
    noFaults(/404/);
  });

  test('the plant is copied as curl, TypeScript and for the command line', async () => {
    await drawer().getByText(`curl ${server.url}/plants/${id}`).waitFor();
    await drawer().getByRole('button', { name: 'TypeScript' }).click();
    await drawer().getByText(`store.get(${id}n)`).waitFor();
    await drawer().getByRole('button', { name: 'CLI' }).click();
    await drawer().getByText(`get ${id} --url ${server.url}`).waitFor();
    noFaults();
  });

  test('on a phone the plant is a page, and nothing is cut', async () => {
    await page.setViewportSize({ width: 390, height: 800 });
    await requireFits(page, 'the plant on a phone');
    await drawer().getByRole('button', { name: 'Back to the list' }).click();
    await drawer().waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1440, height: 900 });
    noFaults();
  });
});
