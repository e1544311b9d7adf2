// The whole console in a real browser: every page in every size and theme, the API reference, and a server that goes
// and comes back.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { createClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { freePort } from '../../testing/free-port.ts';
import { addToken, makeFolder, startServer, type TestServer } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { requireKeyboard } from './keyboard.ts';
import { hold, openView, openWindow, requireAccessible, requireFits, signIn } from './window.ts';

const SPECIES = join(import.meta.dirname, '../../examples/species.csv');
const VIEWS = ['Plants', 'Dashboard', 'Activity', 'Import and export', 'Tokens', 'Webhooks'];
const ALL_SCOPES = ['plants:read', 'plants:write', 'admin'] as const;

describe('the whole console', needsBrowser, () => {
  let server: TestServer;
  let browser: Browser;
  let secret: string;

  before(async () => {
    server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    ({ secret } = await addToken(server.databaseUrl, { name: 'nursery', scopes: [...ALL_SCOPES] }));
    const client = createClient({ url: server.url, token: secret });
    await client.importFile(new Blob([readFileSync(SPECIES)]), { type: 'text/csv' });
    await client.put(1n, { name: `Crataegus ${'× media '.repeat(30)}`, tag: 'a tag that is much too long to fit' });
    await client.put(2n, { name: 'شجرة الزيتون (Olea europaea)' });
    await client.put(3n, { name: '' });
    await client.webhooks.create({ url: 'http://127.0.0.1:1/hooks', name: 'Stock list' });
    await client.create({ id: -1n, name: 'Not delivered' });
    browser = await sharedBrowser();
  });
  after(async () => {
    await server?.stop();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 1024, 820, 390, 320]) {
      test(`every page works at ${width} px in the ${colorScheme} theme`, async () => {
        const options = { colorScheme, viewport: { width, height: 800 } };
        const { page, context, faults } = await openWindow(browser, server.url, options);
        const requireGood = async (view: string) => {
          const what = `${view} (${colorScheme}, ${width} px)`;
          await requireAccessible(page, what);
          await requireFits(page, what);
          if (colorScheme === 'light') await requireKeyboard(page, what); // The same in both themes.
        };
        await page.goto(`${server.url}/`);
        await page.getByLabel('Token').waitFor();
        await requireGood('the sign-in page');
        await signIn(page, server.url, secret);
        for (const view of VIEWS) {
          await openView(page, view);
          await eventually(async () => assert.equal(await page.locator('.bone, [aria-busy=true]').count(), 0));
          await requireGood(view);
        }
        assert.deepEqual(faults, []);
        await context.close();
      });
    }
  }

  test('the help on the sign-in page stays in its card at every width', async () => {
    for (const width of [1440, 820, 390, 320]) {
      const { page, context } = await openWindow(browser, server.url, { viewport: { width, height: 800 } });
      await page.goto(`${server.url}/`);
      await page.getByText('Where do I get a token?').click();
      await page.getByText('token create').waitFor();
      await requireFits(page, `the help at ${width} px`);
      await requireAccessible(page, `the help at ${width} px`);
      await context.close();
    }
  });

  test("the API reference sends requests with the user's token, and leads back to the console", async () => {
    const { page, context, faults } = await openWindow(browser, server.url);
    await signIn(page, server.url, secret);
    await page.getByRole('link', { name: 'API reference' }).first().click();
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    await requireAccessible(page, 'the API reference');
    await page
      .getByRole('button', { name: /Test Request/ })
      .first()
      .click();
    await page.getByText('"Monstera deliciosa"').last().waitFor();
    await page.getByRole('button', { name: /Send post request/ }).click();
    await page.getByText('200 OK').waitFor();
    assert.deepEqual(faults, []);
    await page.goto(`${server.url}/docs`);
    await page.getByRole('link', { name: /console/i }).click();
    await page.getByRole('heading', { level: 1, name: 'Plants' }).waitFor();
    await context.close();
  });

  test('the console works below a base path', async () => {
    const based = await startTestService({ env: { BASE_PATH: '/store' } });
    const { page, context, faults } = await openWindow(browser, based.url);
    await signIn(page, based.url.replace(/\/$/, ''), based.secret);
    await createClient({ url: based.url, token: based.secret }).create({ id: 1n, name: 'Ficus' });
    await page.getByRole('link', { name: 'Ficus' }).waitFor();
    await page.getByRole('link', { name: 'API reference' }).first().click();
    await page.getByRole('heading', { name: 'Plant Store', level: 1 }).waitFor();
    await page.getByRole('link', { name: /console/i }).click();
    await page.getByRole('link', { name: 'Ficus' }).waitFor();
    assert.deepEqual(faults, []);
    await context.close();
    await based.stop();
  });

  test('the console reports that the server was killed, and reconnects after its restart', async () => {
    const options = { folder: makeFolder(), env: { PORT: String(await freePort()) } };
    const killed = await startServer(options);
    await createClient({ url: killed.url, token: killed.secret }).create({ id: 5n, name: 'Before' });
    const { page, context } = await openWindow(browser, killed.url);
    await signIn(page, killed.url, killed.secret);
    await page.getByRole('link', { name: 'Before' }).waitFor();
    await killed.kill();
    await page.getByText('The server is out of reach.').waitFor();
    await requireAccessible(page, 'the console without a server');
    assert.equal(await page.getByRole('button', { name: 'Add plant' }).count(), 0, 'writing is disabled');
    assert.ok(await page.getByRole('link', { name: 'Before' }).isVisible(), 'the loaded plants stay');
    const again = await startServer(options);
    await page.getByText('The server is out of reach.').waitFor({ state: 'detached' });
    await createClient({ url: again.url, token: killed.secret }).create({ id: -1n, name: 'After the restart' });
    await page.getByText('After the restart').waitFor();
    await context.close();
    assert.equal(await again.stop(), 0);
  });

  test('the console loads less than 200 KiB and caches all files', async () => {
    const { page, context } = await openWindow(browser, server.url);
    await page.goto(`${server.url}/`);
    await page.getByLabel('Token').waitFor();
    const sizes = await page.evaluate(() => {
      const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
      return entries.map((entry) => (entry as PerformanceResourceTiming).encodedBodySize);
    });
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes > 10_000 && bytes < 200 * 1024, `${bytes} bytes`);
    await page.reload();
    await page.getByLabel('Token').waitFor();
    const again = await page.evaluate(() =>
      performance.getEntriesByType('resource').map((entry) => (entry as PerformanceResourceTiming).transferSize),
    );
    assert.ok(
      again.every((size) => size === 0),
      `${again}`,
    );
    await context.close();
  });

  test('the page shows its name before its scripts have arrived', async () => {
    const { page, context } = await openWindow(browser, server.url);
    const scripts = await hold(page, '**/assets/*.js');
    await page.goto(`${server.url}/`, { waitUntil: 'commit' });
    const starting = page.locator('.starting');
    await starting.waitFor();
    assert.equal((await starting.textContent())?.trim(), 'Plant Store');
    await requireFits(page, 'the start');
    await scripts.release();
    await page.getByLabel('Token').waitFor();
    assert.equal(await starting.isVisible(), false);
    await context.close();
  });
});
