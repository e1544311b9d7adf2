// Takes the screenshots of the console in docs/screenshots, on a real server with the data of a small nursery.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { openBrowser } from '../testing/browser.ts';
import { cleanUpFile } from '../testing/clean-up.ts';
import { addToken, startServer } from '../testing/server.ts';
import { type Nursery, startNursery } from './sample-nursery.ts';
import { openWindow, settled, signIn } from './test/window.ts';

const FOLDER = join(import.meta.dirname, '../docs/screenshots');
const DESKTOP = { width: 1280, height: 800 };
/** Shows the list as a table beside an open plant. */
const WIDE = { width: 1440, height: 860 };
const TABLET = { width: 820, height: 1080 };
const PHONE = { width: 390, height: 780 };
const OLDEST_MAPLE = 10_008n;
const DISPUTED = 10_704n;

const FILE = `id,name,tag,price
10703,Quercus alba L.,tree,48.00
20601,Helianthus annuus 'Taiyo',herb,3.50
20602,Helianthus annuus 'Velvet Queen',herb,3.50
2060x,Helianthus debilis,herb,3.50
20604,Heliopsis helianthoides,herb,4.20
10705,Heuchera americana,herb,5.10
20606,Heuchera villosa 'Autumn Bride',herb,5.60
20607,Hibiscus moscheutos,shrub,12.00,new
20608,Hosta plantaginea,herb,6.90
`;

type Take = (name: string) => Promise<void>;

const browser = await openBrowser();
rmSync(FOLDER, { recursive: true, force: true });
await takeFirstRun();
const nursery = await startNursery();
await takeSignIn(nursery);
await takeWindow(nursery, { viewport: DESKTOP }, takePlants);
await takeWindow(nursery, { viewport: DESKTOP }, takePages);
await takeWindow(nursery, { viewport: WIDE }, takeOpenPlant('plants'));
await takeWindow(nursery, { viewport: WIDE, colorScheme: 'dark' }, takeOpenPlant('plants-dark'));
await takeWindow(nursery, { viewport: TABLET }, takeOpenPlant('plants-tablet'));
await takeWindow(nursery, { viewport: PHONE, hasTouch: true, isMobile: true }, (_page, take) => take('plants-phone'));
await browser.close();
await nursery.server.stop();
await cleanUpFile(); // closes the receivers

/** Opens a window that is signed in. `work` shows screens and takes them. */
async function takeWindow(
  { server, secret }: Pick<Nursery, 'server' | 'secret'>,
  options: BrowserContextOptions,
  work: (page: Page, take: Take) => Promise<void>,
): Promise<void> {
  const { page, context, faults } = await openWindow(browser, server.url, options);
  await signIn(page, server.url, secret);
  await work(page, (name) => takeNow(page, name));
  await context.close();
  const unexpected = faults.filter((fault) => !fault.includes('412')); // The conflict causes one.
  assert.deepEqual(unexpected, []);
}

/** Takes the page as soon as everything is loaded and nothing moves. */
async function takeNow(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0); // A row under the pointer has another colour.
  await page.waitForFunction(() => !document.querySelector('.bone, [aria-busy=true], .is-live'));
  await settled(page);
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
}

async function takeFirstRun(): Promise<void> {
  const server = await startServer();
  const { secret } = await addToken(server.databaseUrl, {
    name: 'designer',
    scopes: ['plants:read', 'plants:write', 'admin'],
  });
  await takeWindow({ server, secret }, { viewport: DESKTOP }, async (page, take) => {
    await page.getByRole('heading', { name: 'Start your collection' }).waitFor();
    await take('first-run');
  });
  await server.stop();
}

async function takeSignIn({ server }: Nursery): Promise<void> {
  const { page, context } = await openWindow(browser, server.url, { viewport: DESKTOP });
  await page.goto(server.url);
  await page.getByText('Where do I get a token?').click();
  await takeNow(page, 'sign-in');
  await context.close();
}

function takeOpenPlant(name: string) {
  return async (page: Page, take: Take): Promise<void> => {
    await show(page, `plants?id=${OLDEST_MAPLE}`);
    await page.getByRole('region', { name: 'History' }).getByText('added it').waitFor();
    await take(name);
  };
}

async function takePlants(page: Page, take: Take): Promise<void> {
  await show(page, 'plants?q=qu+al');
  await page.getByText('Quercus alba L.').waitFor();
  await take('search');
  await show(page, 'plants?tag=tree&tag=conifer&sort=name');
  await page.getByText('Acer negundo').waitFor();
  await page.keyboard.press('f');
  await page.getByRole('dialog').waitFor();
  await take('filter');
  await page.keyboard.press('Escape');
  for (const row of [1, 2, 4]) await page.locator('.tbody .c-sel .box').nth(row).click();
  await page.getByRole('button', { name: 'Set tag' }).click();
  await take('selection');
  await page.keyboard.press('Escape');
  await takeConflict(page, take);
  await show(page, 'plants');
  await page.keyboard.press('Control+k');
  await page.getByLabel('Search plants and commands').fill('acer');
  await page.getByText('Show all plants matching').waitFor();
  await take('palette');
}

async function takeConflict(page: Page, take: Take): Promise<void> {
  await show(page, `plants?id=${DISPUTED}`);
  await page.getByRole('button', { name: 'Quercus bicolor' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Quercus bicolor, 12 to 14 cm girth');
  await page.keyboard.press('Escape');
  await page.keyboard.press('t');
  await page.getByRole('combobox').fill('oak');
  await nursery.visitors.shop.patch(DISPUTED, { tag: 'broadleaf' });
  await page.getByRole('button', { name: /^Save/ }).click();
  await page.getByRole('dialog').getByText('Theirs').first().waitFor();
  await page.getByRole('radio', { name: /oak/ }).check();
  await take('conflict');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Discard' }).click();
}

async function takePages(page: Page, take: Take): Promise<void> {
  await show(page, 'dashboard');
  await page.getByRole('heading', { name: 'Activity', level: 2 }).waitFor();
  await take('dashboard');
  await show(page, 'activity');
  await page
    .getByRole('button', { name: /Quercus alba/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Restore the version before' }).waitFor();
  await page.waitForFunction(() => {
    const end = document.querySelector('.status')?.getBoundingClientRect().top ?? 0;
    const rows = [...document.querySelectorAll('[data-wanted]')]; // whose earlier versions are not loaded yet
    return !rows.some((row) => row.getBoundingClientRect().top < end);
  });
  await take('activity');
  await show(page, 'transfer');
  await page.locator('input[type=file]').setInputFiles({
    name: 'spring-order.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(FILE),
  });
  await page.getByRole('button', { name: /^Import \d+ plants$/ }).waitFor();
  await take('import');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await show(page, 'tokens');
  await page.getByText('shop-sync').waitFor();
  await take('tokens');
  await page.getByRole('button', { name: 'Create token' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('spring sale');
  await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
  await page.getByText('Waiting for its first request').waitFor();
  await take('token-created');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Close without copying' }).click();
  await show(page, `webhooks?id=${nursery.failingWebhook}`);
  await page.getByText('Webhook failing').waitFor();
  await page.getByRole('list', { name: 'Deliveries' }).waitFor();
  await take('webhooks');
  await page.goto(`${nursery.server.url}/docs`);
  await page.getByRole('heading', { name: 'Plant Store' }).first().waitFor();
  await take('docs');
}

async function show(page: Page, view: string): Promise<void> {
  await page.goto(`${nursery.server.url}/#/${view}`);
}
