// The plants page in a real browser, while other clients change the same plants.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { openWindow, requireAccessible, shown, signIn, type Window } from './window.ts';

const MAX_ID = 9223372036854775807n;

describe('the plants page of the console', needsBrowser, () => {
  let server: TestService;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    others = createClient({ url: server.url, token: server.secret });
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
    await others.import([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
      { id: 2n, name: 'Été indien', tag: 'herb' },
      { id: 3n, name: 'Ficus lyrata' },
      { id: -5n, name: 'Abies balsamea', tag: 'conifer' },
    ]);
    await page.clock.install();
    await signIn(page, server.url, server.secret);
  });

  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  const row = (id: bigint): Locator => page.locator(`tr[data-id="${id}"]`);
  const ids = (): Promise<string[]> => page.locator('tbody tr td.id').allTextContents();
  const shows = (wanted: string[]): Promise<void> => eventually(async () => assert.deepEqual(await ids(), wanted));
  const inDialog = (): Locator => page.getByRole('dialog');
  const said = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

  async function noFaults(): Promise<void> {
    assert.deepEqual(window.faults.splice(0), []);
  }

  test('signing in checks the token and keeps it until the tab closes', async () => {
    const other = await openWindow(browser, server.url);
    await other.page.goto(`${server.url}/`);
    await other.page.getByLabel('Token').fill('pst_wrong');
    await other.page.getByRole('button', { name: 'Sign in' }).click();
    await other.page.getByRole('alert').getByText('token').waitFor();
    await eventually(async () => assert.match(other.faults.join(), /401/)); // The browser logs failed requests itself.
    await other.context.close();

    await page.reload();
    await row(1n).waitFor();
    const tab = await window.context.newPage();
    await tab.goto(`${server.url}/`);
    await tab.getByLabel('Token').waitFor();
    await tab.close();
    await noFaults();
  });

  test('plants are ordered by id and found by name, by id and by tag while the user types', async () => {
    await shows(['-5', '1', '2', '3']);
    const search = page.getByRole('searchbox');
    await search.pressSequentially('ete');
    await shows(['2']);
    await search.fill('-5');
    await shows(['-5']);
    await search.fill('no such name');
    await said('No plants match this search');
    await search.fill('');
    await row(1n).getByRole('button', { name: 'tropical' }).click();
    await shows(['1']);
    assert.match(page.url(), /tag=tropical/);
    await page.getByLabel('Filter by tag').selectOption('Any tag');
    await row(2n).waitFor();
    await noFaults();
  });

  test('a plant with the largest id is added, exact to the last digit', async () => {
    await page.getByRole('button', { name: 'Add plant' }).click();
    await inDialog().getByLabel('Id').fill('9223372036854775808');
    await inDialog().getByLabel('Name').fill('Welwitschia mirabilis');
    await inDialog().getByLabel('Tag').fill('desert');
    await inDialog().getByRole('button', { name: 'Add plant' }).click();
    await inDialog().getByText('must be an integer between').waitFor();
    await requireAccessible(page, 'the form for a new plant');
    await inDialog().getByLabel('Id').fill(String(MAX_ID));
    await inDialog().getByRole('button', { name: 'Add plant' }).click();
    await said('Added Welwitschia mirabilis');
    await row(MAX_ID).waitFor();
    assert.equal((await others.get(MAX_ID)).record.name, 'Welwitschia mirabilis');
    await noFaults();
  });

  test('a used id is reported, and its plant can be opened', async () => {
    await page.getByRole('button', { name: 'Add plant' }).click();
    await inDialog().getByLabel('Id').fill('3');
    await inDialog().getByLabel('Name').fill('Another one');
    await page.keyboard.press('Enter');
    await inDialog().getByRole('button', { name: 'Open existing plant' }).click();
    const name = inDialog().getByLabel('Name');
    await eventually(async () => assert.equal(await name.inputValue(), 'Ficus lyrata'));
    await page.keyboard.press('Escape');
    await inDialog().waitFor({ state: 'detached' });
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('an edit changes only the edited fields', async () => {
    await others.put(4n, { name: 'Two\r\nlines', tag: '' });
    await row(4n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Tag').fill('odd');
    await inDialog().getByRole('button', { name: 'Save' }).click();
    await inDialog().waitFor({ state: 'detached' });
    const { record } = await others.get(4n);
    assert.deepEqual([record.name, record.tag], ['Two\r\nlines', 'odd']);
    await row(4n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Tag').fill('');
    await inDialog().getByRole('button', { name: 'Save' }).click();
    await inDialog().waitFor({ state: 'detached' });
    assert.equal('tag' in (await others.get(4n)).record, false);
    await noFaults();
  });

  test('a conflict shows both versions side by side', async () => {
    await row(1n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Name').fill('Monstera adansonii');
    await others.patch(1n, { name: 'Monstera obliqua' });
    await inDialog().getByRole('button', { name: 'Save' }).click();
    await inDialog().getByRole('region', { name: 'Stored version' }).getByText('Monstera obliqua').waitFor();
    await inDialog().getByRole('region', { name: 'Your version' }).getByText('Monstera adansonii').waitFor();
    await requireAccessible(page, 'a conflict');
    await others.patch(1n, { tag: 'climber' }); // Changed again while the dialog is open.
    await inDialog().getByRole('button', { name: 'Save my version' }).click();
    await inDialog().getByText('was changed again').waitFor();
    await inDialog().getByText('climber').waitFor();
    await inDialog().getByRole('button', { name: 'Save my version' }).click();
    await inDialog().waitFor({ state: 'detached' });
    const { record } = await others.get(1n);
    assert.deepEqual([record.name, record.tag], ['Monstera adansonii', 'tropical']);
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('412')));
  });

  test("a plant that was deleted during an edit is reported, and the user's version is kept", async () => {
    await row(2n).getByRole('button', { name: 'Edit' }).click();
    await inDialog().getByLabel('Name').fill('Été');
    await others.delete(2n);
    await inDialog().getByRole('button', { name: 'Save' }).click();
    await inDialog().getByText('This plant was deleted').waitFor();
    await inDialog().getByRole('button', { name: 'Save my version' }).click();
    await inDialog().waitFor({ state: 'detached' });
    assert.equal((await others.get(2n)).record.name, 'Été');
    assert.ok(window.faults.splice(0).every((fault) => /404|412/.test(fault)));
  });

  test('a plant is deleted and restored', async () => {
    await others.patch(2n, { name: 'The last change' });
    await row(2n).getByText('The last change').waitFor(); // The changes before this one have moved the rows.
    await page.clock.fastForward(1000); // until the rows count as settled
    await row(3n).getByRole('button', { name: 'Delete' }).click();
    await row(3n).waitFor({ state: 'detached' });
    await assert.rejects(others.get(3n), { code: 'not_found' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(3n).waitFor();
    assert.equal((await others.get(3n)).record.name, 'Ficus lyrata');
    await noFaults();
  });

  test('changes by other clients appear without a reload', async () => {
    await others.create({ id: 50n, name: 'Nymphaea alba', tag: 'water' });
    await row(50n).waitFor();
    await others.patch(50n, { name: 'Nymphaea odorata' });
    await row(50n).getByText('Nymphaea odorata').waitFor();
    await others.delete(50n);
    await row(50n).waitFor({ state: 'detached' });
    await noFaults();
  });

  test('visible rows keep their position when plants are added above them', async () => {
    await others.import(
      Array.from({ length: 300 }, (_, n) => ({ id: BigInt(1000 + n), name: `Plant ${n}`, tag: 'many' })),
    );
    const scroller = page.getByRole('region', { name: 'Table of plants' });
    await page.goto(`${server.url}/#/plants?tag=many`);
    await row(1000n).waitFor();
    await scroller.evaluate((box) => box.scrollTo(0, 3000));
    const topOf = () => row(1080n).evaluate((tr) => tr.getBoundingClientRect().top);
    await row(1080n).waitFor();
    await shown(page);
    const was = await topOf();
    await others.create({ id: 999n, name: 'Above', tag: 'many' });
    await row(999n).waitFor({ state: 'attached' });
    assert.ok(Math.abs((await topOf()) - was) < 2);
    await noFaults();
  });

  test('the page works with the keyboard alone', async () => {
    const other = await openWindow(browser, server.url);
    const { keyboard } = other.page;
    await other.page.goto(`${server.url}/`);
    await isFocused(other.page.getByLabel('Token'));
    await keyboard.type(server.secret);
    await keyboard.press('Enter');
    const add = other.page.getByRole('button', { name: 'Add plant' });
    await add.waitFor();
    const isOnAdd = () => add.evaluate((button) => button === document.activeElement);
    for (let presses = 0; presses < 20 && !(await isOnAdd()); presses++) await keyboard.press('Tab');
    await keyboard.press('Enter');
    await isFocused(other.page.getByRole('dialog').getByLabel('Id'));
    await keyboard.type('77');
    await keyboard.press('Tab');
    await keyboard.type('Rosa canina');
    await keyboard.press('Enter');
    await other.page.getByText('Added Rosa canina').waitFor();
    await isFocused(add);
    assert.equal((await others.get(77n)).record.name, 'Rosa canina');
    assert.deepEqual(other.faults, []);
    await other.context.close();
  });

  test('a read-only token sees no button that the API would reject', async () => {
    const { secret } = await server.addToken({ name: 'reader', scopes: ['plants:read'] });
    const other = await openWindow(browser, server.url);
    await signIn(other.page, server.url, secret);
    await other.page.locator('tr[data-id="1"]').waitFor();
    assert.equal(await other.page.getByRole('button', { name: /Add|Edit|Delete/ }).count(), 0);
    assert.equal(await other.page.getByRole('link', { name: /Tokens|Webhooks/ }).count(), 0);
    assert.deepEqual(other.faults, []);
    await other.context.close();
  });

  function isFocused(element: Locator): Promise<void> {
    return eventually(async () =>
      assert.ok(await element.evaluate((it) => it === document.activeElement), `${element}`),
    );
  }
});
