// Takes the screenshots of the console in docs/screenshots, on a real server with the plants of examples/species.csv.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createClient } from '../src/client/client.ts';
import { openBrowser } from '../testing/browser.ts';
import { addToken, startServer } from '../testing/server.ts';
import { openWindow, signIn } from './test/window.ts';

const ROOT = join(import.meta.dirname, '..');
const SIZE = { width: 1200, height: 720 };
const PHONE = { width: 390, height: 720 };

const server = await startServer();
const { secret } = await addToken(server.databaseUrl, {
  name: 'nursery',
  scopes: ['plants:read', 'plants:write', 'admin'],
});
const others = createClient({ url: server.url, token: secret });
await others.importFile(new Blob([readFileSync(join(ROOT, 'examples/species.csv'))]), { type: 'text/csv' });
await others.patch(10_007n, { tag: 'maple' });
await others.delete(10_008n);

const browser = await openBrowser();
await takeAll('light', SIZE, async (page, take) => {
  await take('plants');
  await page.goto(`${server.url}/#/plants?q=quer`);
  const id = 10_704n;
  const row = page.locator(`tr[data-id="${id}"]`);
  await row.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').getByLabel('Tag').fill('oak');
  await others.patch(id, { tag: 'broadleaf' });
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Stored version').waitFor();
  await take('conflict');
  await page.keyboard.press('Escape');
  await page.goto(`${server.url}/#/dashboard`);
  await take('dashboard');
  await page.goto(`${server.url}/#/tokens`);
  await take('tokens');
  await page.goto(`${server.url}/docs`);
  await page.waitForTimeout(3000);
  await take('docs');
});
await takeAll('dark', SIZE, async (_page, take) => take('plants-dark'));
await takeAll('light', PHONE, async (_page, take) => take('plants-phone'));
await browser.close();
await server.stop();
process.exit(0);

async function takeAll(
  colorScheme: 'light' | 'dark',
  viewport: { width: number; height: number },
  work: (page: Page, take: (name: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { page, context } = await openWindow(browser, server.url, { colorScheme, viewport });
  await signIn(page, server.url, secret);
  await work(page, async (name) => {
    await page.waitForTimeout(1200); // Wait until the highlight of new rows has faded.
    await page.screenshot({ path: join(ROOT, `docs/screenshots/${name}.png`) });
  });
  await context.close();
}
