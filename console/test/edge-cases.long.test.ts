// The console under unusual use: fast keys, crossing changes of others, texts with line breaks, late responses.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { hold, openWindow, sentBy, shown, startOver, type Window } from './window.ts';

describe('the console under unusual use', needsBrowser, () => {
  let server: TestService;
  let secret: string;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    ({ secret } = await server.addToken({ name: 'nursery', scopes: ['plants:read', 'plants:write', 'admin'] }));
    others = createClient({ url: server.url, token: server.secret });
    await others.import(
      Array.from({ length: 30 }, (_, n) => ({ id: BigInt(n + 1), name: `Plant ${n + 1}`, tag: 'some' })),
    );
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url, { viewport: { width: 1440, height: 900 } });
    page = window.page;
    page.setDefaultTimeout(6000);
  });
  beforeEach(async () => {
    await startOver(window, server.url, secret);
    window.faults.splice(0); // Some tests delete a plant that is open.
    await go('/plants?sort=id');
    await row(1n).waitFor();
  });
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`.tr[data-id="${id}"]`);
  const drawer = (id: bigint): Locator => page.getByRole('complementary', { name: `Plant ${id}`, exact: true });
  const dialog = (): Locator => page.getByRole('dialog');
  const said = (text: string | RegExp): Promise<void> => page.getByRole('status').getByText(text).first().waitFor();
  const go = (hash: string) => page.goto(`${server.url}/#${hash}`);
  const name = async (id: bigint): Promise<string> => (await others.get(id)).record.name;
  const tag = async (id: bigint): Promise<string | undefined> => (await others.get(id)).record.tag;

  test('no key acts behind a dialog or a menu', async () => {
    const written = sentBy(page, 'DELETE');
    await row(3n).getByRole('link').focus();
    await page.keyboard.press('n');
    await dialog().getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('k');
    await page.keyboard.press('x');
    await shown(page);
    assert.equal(await dialog().evaluate((popup) => popup.contains(document.activeElement)), true);
    await page.keyboard.press('Escape');
    await row(3n).getByRole('link').click();
    await drawer(3n).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor();
    await page.keyboard.press('n');
    await page.keyboard.press('Delete');
    await shown(page);
    assert.equal(await dialog().count(), 0);
    assert.deepEqual(written, []);
  });

  test('Ctrl Shift Z does not undo', async () => {
    await row(9n).hover();
    await row(9n).getByRole('button', { name: 'Delete Plant 9' }).click();
    await said('Deleted Plant 9');
    await page.keyboard.press('Control+Shift+Z');
    await shown(page);
    await said('Deleted Plant 9');
    await page.keyboard.press('Control+z');
    await said('Restored Plant 9');
  });

  test('an id that is pasted and opened at once stays open', async () => {
    await page.getByRole('searchbox').focus();
    await page.keyboard.insertText('7');
    await page.keyboard.press('Enter');
    await drawer(7n).waitFor();
    await row(1n).waitFor({ state: 'detached' }); // The search follows a moment later.
    assert.equal(await drawer(7n).count(), 1);
  });

  test('keys of an input method do not end a search', async () => {
    await page.getByRole('searchbox').fill('Plant 7');
    await row(1n).waitFor({ state: 'detached' });
    await page.getByRole('searchbox').evaluate((field) => {
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true }));
    });
    await shown(page);
    assert.equal(await page.getByRole('searchbox').inputValue(), 'Plant 7');
  });

  test('a new plant keeps the line breaks of its name, and a late suggestion does not replace a typed id', async () => {
    const suggestion = await hold(page, '**/plants?**', (url) => url.includes('sort=-id'));
    await page.keyboard.press('n');
    await dialog().getByLabel('Id').fill('61');
    await dialog().getByLabel('Name').focus();
    await page.evaluate(() => document.execCommand('insertText', false, 'First\nSecond'));
    await suggestion.release();
    assert.equal(await dialog().getByLabel('Id').inputValue(), '61');
    await dialog().getByLabel('Name').press('Enter');
    await said(/^Added/);
    assert.equal(await name(61n), 'First\nSecond');
    await others.delete(61n);
  });

  test('an edit of the tag keeps line breaks, blanks and marks in the name', async () => {
    const odd = ' a\r\nb\tc\u202e \u2068d ';
    await others.create({ id: 62n, name: odd, tag: '__proto__' });
    await go('/plants?id=62');
    await drawer(62n).getByTitle('Edit tag (T)').click();
    await drawer(62n).getByRole('combobox', { name: 'Tag' }).fill('a&b#c?d+e%f');
    await page.keyboard.press('Control+Enter');
    await said(/^Saved/);
    assert.deepEqual([await name(62n), await tag(62n)], [odd, 'a&b#c?d+e%f']);
    await drawer(62n).getByTitle('Edit name (E)').click();
    await page.keyboard.press('End');
    await page.keyboard.press('Control+End');
    await page.keyboard.type('!');
    await page.keyboard.press('Control+Enter');
    await eventually(async () => assert.equal(await name(62n), `${odd}!`));
    await others.delete(62n);
  });

  test('Undo of a tag sets what each plant had at the time, not what the page showed', async () => {
    await hold(page, '**/events**'); // The page is out of date from here on.
    await page.reload();
    await row(1n).waitFor();
    await others.patch(2n, { tag: 'theirs' });
    for (const id of [1n, 2n]) await row(id).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Set tag' }).click();
    await page.getByPlaceholder('Tag for 2 plants').fill('mine');
    await page.keyboard.press('Enter');
    await said('Set the tag “mine” of 2 plants');
    await page.getByRole('button', { name: 'Undo' }).click();
    await said('Set the old tag of 2 plants again');
    assert.deepEqual([await tag(1n), await tag(2n)], ['some', 'theirs']);
    await others.patch(2n, { tag: 'some' });
  });

  test('Back closes a plant, Forward opens it, and closing it leaves no trace in the history', async () => {
    await go('/dashboard');
    await go('/plants?sort=id');
    await row(4n).getByRole('link').click();
    await drawer(4n).waitFor();
    await page.keyboard.press('j');
    await drawer(5n).waitFor();
    await page.goBack();
    await drawer(5n).waitFor({ state: 'detached' });
    await row(4n).waitFor();
    await page.goForward();
    await drawer(5n).waitFor();
    await page.keyboard.press('Escape');
    await drawer(5n).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).hash, '#/plants?sort=id');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
  });

  test('an unsaved edit that is left by a click on another plant is mentioned, and kept', async () => {
    const own = await server.addToken({ name: 'brief' });
    await startOver(window, server.url, own.secret);
    await go('/plants?sort=id');
    await row(4n).getByRole('link').click();
    await drawer(4n).getByTitle('Edit name (E)').click();
    await page.keyboard.type('Half done');
    await row(6n).getByRole('link').click();
    await drawer(6n).waitFor();
    await said('The changes to Half done are not saved');
    await createClient({ url: server.url, token: secret }).tokens.revoke(own.id);
    await page.getByText('Your changes to plant 4 are not saved: name “Half done”').waitFor();
    assert.equal(await name(4n), 'Plant 4');
  });

  test('a late response does not close a dialog that was opened since', async () => {
    await server.addToken({ name: 'printer' });
    await go('/tokens');
    const update = await hold(page, '**/tokens/*');
    await page.getByRole('button', { name: 'Edit printer' }).click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('printer 2');
    await dialog().getByRole('button', { name: 'Save token' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Create token' }).click();
    await dialog().getByRole('textbox', { name: 'Name' }).fill('Half done');
    await update.release();
    await page.getByText('Saved printer 2').waitFor();
    assert.equal(await dialog().getByRole('textbox', { name: 'Name' }).inputValue(), 'Half done');
  });

  test('a late response does not lead back to a page that the user has left', async () => {
    await go('/webhooks');
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    const held = await hold(page, '**/webhooks');
    await dialog().getByLabel('Address').fill('https://example.com/hook');
    await dialog().getByRole('button', { name: 'Add webhook' }).click();
    await go('/dashboard');
    await page.getByRole('heading', { level: 1, name: 'Dashboard' }).waitFor();
    await held.release();
    await shown(page);
    assert.equal(new URL(page.url()).hash, '#/dashboard');
  });

  test('a list that becomes shorter than the scrolled place shows its end', async () => {
    const ids = Array.from({ length: 1000 }, (_, n) => BigInt(n + 1000));
    await others.import(ids.map((id) => ({ id, name: `Many ${id}`, tag: 'many' })));
    await go('/plants?sort=id&tag=many');
    await row(1000n).waitFor();
    await page.keyboard.press('End');
    await row(1999n).waitFor();
    await Promise.all(ids.slice(40).map((id) => others.delete(id)));
    await page.getByRole('button', { name: /new changes/ }).click();
    await page.getByText('40 plants, by id, lowest first').waitFor();
    await page.keyboard.press('End');
    await row(1039n).waitFor();
    for (const id of ids.slice(0, 40)) await others.delete(id);
  });

  test('copying works without TLS, and keeps the focus', async () => {
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await row(4n).getByRole('link').focus();
    await page.keyboard.press('c');
    await said('Copied id 4');
    assert.equal(
      await row(4n)
        .getByRole('link')
        .evaluate((link) => link === document.activeElement),
      true,
    );
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.keyboard.press('c');
    await said('The browser does not let this page copy');
    await row(4n).getByRole('link').click();
    await drawer(4n).getByRole('button', { name: 'Copy id' }).click();
    await shown(page);
    assert.deepEqual(window.faults, []);
  });

  test('a filter with more plants than the server counts says so before all are deleted', async () => {
    await others.import(
      Array.from({ length: 101 }, (_, n) => ({ id: BigInt(n + 3000), name: `Lot ${n}`, tag: 'lot' })),
    );
    await page.route('**/plants?**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'total-count': '>100000' } });
    });
    await go('/plants?sort=id&tag=lot');
    await row(3000n).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.getByRole('alertdialog', { name: 'Delete more than 100,000 plants?' }).waitFor();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('More than 100,000 selected').waitFor();
  });

  test('the focus stays where the user works', async () => {
    const focused = (wanted: Locator) =>
      eventually(async () => assert.equal(await wanted.evaluate((one) => one === document.activeElement), true));
    await row(4n).getByRole('link').focus();
    await page.keyboard.press('e');
    await drawer(4n).getByRole('textbox', { name: 'Name' }).fill('x');
    await page.keyboard.press('Escape');
    await focused(drawer(4n).getByTitle('Edit name (E)'));
    await page.keyboard.press('Escape');
    await page.getByRole('alertdialog').waitFor();
    await page.keyboard.press('Escape'); // Keeps the edit.
    await focused(drawer(4n).getByTitle('Edit name (E)'));
    await drawer(4n).getByRole('button', { name: 'Discard' }).click();
    await drawer(4n).getByTitle('Edit tag (T)').focus();
    await page.keyboard.press('j');
    await focused(drawer(5n));
  });

  test('errors of a proxy and of a text that is too long say what to do', async () => {
    await page.keyboard.press('n');
    await dialog().getByLabel('Name').fill('x'.repeat(70_000));
    await dialog().getByLabel('Id').fill('70');
    await dialog().getByRole('button', { name: 'Add plant' }).click();
    await dialog().getByText('This is longer than the server accepts. Shorten it and try again.').waitFor();
    await page.route('**/plants', (route) => route.fulfill({ status: 502, body: '<html>Bad gateway</html>' }));
    await dialog().getByLabel('Name').fill('x');
    await dialog().getByRole('button', { name: 'Add plant' }).click();
    await dialog().getByText('Something between this page and the server failed (status 502)').waitFor();
  });

  test('the palette offers no page that the token cannot open', async () => {
    const writer = await server.addToken({ name: 'writer', scopes: ['plants:write'] });
    await startOver(window, server.url, writer.secret);
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'Import a file' }).waitFor();
    assert.equal(await page.getByRole('option', { name: /Add plant/ }).count(), 0);
  });

  test('signing out with an unsaved edit asks first', async () => {
    await row(4n).getByRole('link').click();
    await drawer(4n).getByTitle('Edit name (E)').click();
    await page.keyboard.type('Half done');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const question = page.getByRole('alertdialog', { name: 'Sign out without saving?' });
    await question.getByText('Your changes to plant 4 are not saved: name “Half done”').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await drawer(4n).getByText('1 unsaved change').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await question.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
  });

  test('a stopped deletion says how many plants are left, and Undo restores the others', async () => {
    const before = await others.count();
    const deletion = await hold(page, '**/plants/*');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page
      .getByRole('alertdialog')
      .getByRole('button', { name: /^Delete/ })
      .click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await deletion.release();
    await said(/^Deleted 6 plants\. \d+ plants left as before$/);
    await page.getByRole('button', { name: 'Undo' }).click();
    await said('Restored 6 plants');
    assert.deepEqual(await others.count(), before);
  });

  test('a form that could not be sent waits until the server responds again', async () => {
    await page.keyboard.press('n');
    await dialog().getByLabel('Name').fill('Patient');
    await dialog().getByLabel('Id').fill('71');
    await page.route('**/plants', (route) => route.abort());
    const add = dialog().getByRole('button', { name: 'Add plant' });
    await add.click();
    await dialog().getByText('The server does not respond').waitFor();
    await eventually(async () => assert.equal(await add.isDisabled(), true));
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await eventually(async () => assert.equal(await add.isDisabled(), false));
    await add.click();
    await said('Added Patient');
  });

  test('a plant that is opened and closed many times at once leads nowhere else', async () => {
    await page.evaluate(async () => {
      const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
      for (let round = 0; round < 8; round++) {
        document.querySelector<HTMLElement>(`[data-row="${round % 10}"] a`)?.click();
        await frame();
        await frame();
        for (let key = 0; key < 3; key++) dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
        await frame();
      }
    });
    await page.locator('.drawer').waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).hash, '#/plants?sort=id');
    await row(5n).getByRole('link').click();
    await drawer(5n).waitFor();
  });

  for (const [what, id, path] of [
    ['plant', 8n, /\/plants\/8$/],
    ['history', 9n, /\/plants\/9\/.*limit=20/],
  ] as const) {
    test(`a change that arrives before the first response of the ${what} is shown`, async () => {
      const changed = Promise.withResolvers<void>();
      const read = Promise.withResolvers<void>();
      await page.route(
        path,
        async (route) => {
          const response = await route.fetch();
          read.resolve();
          await changed.promise;
          await route.fulfill({ response }).catch(() => {}); // The page has aborted it.
        },
        { times: 1 },
      );
      await row(id).getByRole('link').click();
      await read.promise;
      await others.patch(id, { name: 'Newest' });
      await row(id).getByText('Newest').waitFor();
      changed.resolve();
      await drawer(id).getByRole('heading', { name: 'Newest' }).waitFor();
      await drawer(id).getByRole('region', { name: 'History' }).getByText('Newest').first().waitFor();
    });
  }
});
