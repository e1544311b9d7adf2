// The console in a real browser: the tests that take long.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { freePort } from '../../testing/free-port.ts';
import { makeFolder, startServer } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import {
  openWindow,
  requireAccessible,
  requireAccessibleViews,
  shown,
  signIn,
  startOver,
  type Window,
} from './window.ts';

/** Number of plants in a file that the client sends in three pieces. */
const MANY = 75_000;

describe('the console, long tests', needsBrowser, () => {
  const folder = makeFolder();
  let server: TestService;
  let others: PlantStoreClient;
  let browser: Browser;
  let window: Window;
  let page: Page;
  let secret: string;

  const row = (id: bigint): Locator => page.locator(`tr[data-id="${id}"]`);
  const ids = (): Promise<string[]> => page.locator('tbody tr td.id').allTextContents();

  before(async () => {
    server = await startTestService({ folder });
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    others = createClient({ url: server.url, token: secret });
    await others.import([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
      { id: 2n, name: 'Ficus lyrata', tag: 'tropical' },
      { id: 3n, name: 'Abies balsamea', tag: 'conifer' },
    ]);
    browser = await sharedBrowser();
    window = await openWindow(browser, server.url);
    page = window.page;
  });
  beforeEach(() => startOver(window, server.url, secret));
  after(async () => {
    await window?.context.close();
    await server?.stop();
  });

  test('every view is accessible in light and dark mode, on a phone and on a wide screen', async () => {
    await requireAccessibleViews(browser, server.url, secret, { colorScheme: 'light', width: 1280 });
    await requireAccessibleViews(browser, server.url, secret, { colorScheme: 'dark', width: 1280 });
    await requireAccessibleViews(browser, server.url, secret, { colorScheme: 'light', width: 360 });
  });

  test("the docs page sends requests with the user's token", async () => {
    await page.getByRole('link', { name: 'API', exact: true }).click();
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await requireAccessible(page, 'the docs');
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByText('"Monstera deliciosa"').last().waitFor(); // Plant 1 exists, so the request is a replay.
    await page.getByRole('button', { name: /Send post request/ }).click();
    await page.getByText('200 OK').waitFor();
    assert.deepEqual(window.faults, []);
  });

  test('the console works below a base path', async () => {
    const based = await startTestService({ env: { BASE_PATH: '/store' } });
    const other = await openWindow(browser, based.url);
    await signIn(other.page, based.url.replace(/\/$/, ''), based.secret);
    await other.page.getByRole('button', { name: 'Add plant' }).click();
    await other.page.getByRole('dialog').getByLabel('Id').fill('1');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('Added plant 1').waitFor();
    await other.page.getByRole('link', { name: 'API', exact: true }).click();
    await other.page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    assert.deepEqual(other.faults, []);
    await other.context.close();
    await based.stop();
  });

  test('an import continues in another view and ends with the session', async () => {
    const file = join(folder, 'many.ndjson');
    writeFileSync(
      file,
      Array.from({ length: MANY }, (_, n) => `{"id":${1_000_000 + n},"name":"Many ${n}"}`).join('\n'),
    );
    const leaving = Promise.withResolvers<void>();
    let pieces = 0;
    await page.route('**/plants/import', async (route) => {
      if (++pieces > 1) await leaving.promise;
      await route.continue().catch(() => {}); // The page has aborted the request.
    });
    await page.getByRole('link', { name: 'Import and export' }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText(/Importing:/).waitFor();
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByRole('heading', { name: 'Dashboard' }).waitFor();
    await page.getByRole('link', { name: 'Import and export' }).click();
    await page.getByText(/Importing: [1-9]/).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    leaving.resolve();
    await sleep(1000);
    await others.get(1_000_000n);
    await assert.rejects(others.get(BigInt(1_000_000 + MANY / 2)), { code: 'not_found' });
    assert.equal(pieces, 2);
  });

  test('the console reports that the server was killed, and reconnects after its restart', async () => {
    const options = { folder: makeFolder(), env: { PORT: String(await freePort()) } };
    const killed = await startServer(options);
    const other = await openWindow(browser, killed.url);
    await signIn(other.page, killed.url, killed.secret);
    await killed.kill();
    await other.page.getByText('The server is unreachable').waitFor();
    const again = await startServer(options);
    await other.page.getByText('The server is unreachable').waitFor({ state: 'detached' });
    await createClient({ url: again.url, token: killed.secret }).create({ id: -1n, name: 'After the restart' });
    await other.page.getByText('After the restart').waitFor();
    await other.context.close();
    assert.equal(await again.stop(), 0);
  });

  test('the dashboard includes an import that has just finished', async () => {
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('Changes, 24 h').waitFor();
    const file = join(folder, 'few.csv');
    writeFileSync(file, 'id,name,tag\n-100,Rare,rarest\n');
    await page.getByRole('link', { name: 'Import and export' }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('Import finished: 1 added').waitFor();
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByRole('row', { name: 'rarest 1' }).waitFor();
  });

  test('scrolling through 1,500 plants and back keeps at most 600 rows on the page', async () => {
    const many = Array.from({ length: 1500 }, (_, n) => ({ id: BigInt(1000 + n), name: `Plant ${n}`, tag: 'many' }));
    await others.import(many);
    await page.goto(`${server.url}/#/plants?tag=many`);
    await row(1000n).waitFor();
    const scroller = page.getByRole('region', { name: 'Table of plants' });
    const seen = new Set<string>();
    await scrollUntil(scroller, 1_000_000, async () => {
      for (const id of await ids()) seen.add(id);
      return (await row(2499n).count()) > 0;
    });
    for (const id of await ids()) seen.add(id);
    const missed = many.map(({ id }) => String(id)).filter((id) => !seen.has(id));
    assert.deepEqual(missed, []);
    await page.getByText('1,500 plants').first().waitFor();
    const onPage = await ids();
    assert.ok(onPage.length <= 600, `${onPage.length} rows`);
    assert.equal(onPage.at(-1), '2499');
    await scrollUntil(scroller, 0, async () => (await row(1000n).count()) > 0);
    const back = await ids();
    assert.deepEqual(
      back,
      Array.from({ length: back.length }, (_, n) => String(1000 + n)),
    );
    assert.deepEqual(window.faults, []);
  });

  async function scrollUntil(scroller: Locator, top: number, isThere: () => Promise<boolean>): Promise<void> {
    for (let rounds = 0; rounds < 200; rounds++) {
      await scroller.evaluate((box, to) => box.scrollTo(0, to), top);
      if (await isThere()) return;
      await shown(page);
    }
    assert.fail('The row did not appear');
  }
});
