// The dashboard in a real browser: its numbers, chart, tags, health and last changes.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openView, openWindow, STILL, signIn, type Window } from './window.ts';

const LONG_NAME = 'Crataegus'.repeat(200);

describe('the dashboard', needsBrowser, () => {
  let server: TestService;
  let client: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService();
    const { secret } = await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] });
    client = createClient({ url: server.url, token: secret });
    browser = await sharedBrowser();
    await client.import([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
      { id: 2n, name: 'Ficus lyrata', tag: 'tropical' },
      { id: 3n, name: 'Abies balsamea', tag: 'conifer' },
      { id: 4n, name: 'Unknown' },
    ]);
    window = await openWindow(browser, server.url, STILL);
    page = window.page;
    await signIn(page, server.url, secret);
    await openView(page, 'Dashboard');
  });

  after(async () => {
    assert.deepEqual(window?.faults, []);
    await window?.context.close();
    await server?.stop();
  });

  const region = (name: string) => page.getByRole('region', { name });

  test('the numbers, the tags and the health of the store are shown', async () => {
    await page.getByRole('link', { name: 'Plants 4 +4 this week' }).waitFor();
    await page.getByRole('link', { name: 'Tags 2 1 plant without a tag' }).waitFor();
    await page.getByRole('link', { name: 'Changes, 24 h 4 None on the day before' }).waitFor();
    await page.getByText(/^Requests, 24 h/).waitFor();
    const tags = region('Plants by tag');
    assert.deepEqual(await tags.getByRole('listitem').allTextContents(), [
      'tropical250 %',
      'conifer125 %',
      'No tag125 %',
    ]);
    assert.equal(await tags.getByRole('link', { name: /conifer/ }).getAttribute('href'), '#/plants?tag=conifer');
    assert.equal(await tags.getByRole('link', { name: /No tag/ }).getAttribute('href'), '#/plants?untagged=1');
    await region('Health').getByText('No problems').waitFor();
    await region('Health').getByText('SQLite').waitFor();
  });

  test('the chart counts the changes of three periods, and the arrow keys read its values', async () => {
    for (const [button, words] of [
      ['7 d', '7 days'],
      ['30 d', '30 days'],
      ['24 h', '24 hours'],
    ] as const) {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('img', { name: `4 changes in the last ${words}` }).waitFor();
    }
    await page.getByRole('img', { name: /changes in the last/ }).focus();
    await page.keyboard.press('End');
    const tip = page.locator('.tip');
    // The hour can end between the import and this line.
    if ((await tip.textContent())?.includes('0 changes')) await page.keyboard.press('ArrowLeft');
    await tip.getByText('4 changes').waitFor();
    await tip.getByText('4 added').waitFor();
    await page.keyboard.press('Home');
    await tip.getByText('0 changes').waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await tip.textContent(), '');
  });

  test('changes of other clients appear, with links except to deleted plants, and long names are cut', async () => {
    const activity = region('Activity');
    await client.put(5n, { name: LONG_NAME });
    await client.delete(1n);
    await activity.getByText('owner deleted Monstera deliciosa').waitFor();
    assert.equal(await activity.getByRole('link', { name: 'Monstera deliciosa' }).count(), 1); // It was added before.
    assert.equal(await activity.getByRole('link', { name: 'Ficus lyrata' }).getAttribute('href'), '#/plants?id=2');
    const long = activity.getByRole('listitem').filter({ hasText: 'Crataegus' });
    assert.ok(((await long.boundingBox())?.height ?? 0) < 70, 'the long name takes more than two lines');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0);
    await page.getByRole('link', { name: /^Plants 4 \+4 this week/ }).waitFor();
  });
});
