// Dialogs, menus and other states of the console in every size and theme: they fit, and axe-core finds nothing.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { createClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openWindow, requireAccessible, requireFits, signIn } from './window.ts';

const LONG = `Crataegus ${'× media '.repeat(20)}`;

describe('the states of the console', needsBrowser, () => {
  let server: TestService;
  let browser: Browser;
  let secret: string;
  let changes = 0;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    ({ secret } = await server.addToken({ name: 'nursery', scopes: ['plants:read', 'plants:write', 'admin'] }));
    const client = createClient({ url: server.url, token: secret });
    await client.import(
      Array.from({ length: 40 }, (_, n) => ({ id: BigInt(n + 1), name: `Plant ${n + 1}`, tag: 'tree' })),
    );
    await client.put(1n, { name: LONG, tag: 'a tag that is too long for its column' });
    await client.patch(1n, { tag: 'short' });
    await client.webhooks.create({ url: 'http://127.0.0.1:1/hooks', name: 'Stock list' });
    await client.create({ id: 100n, name: 'Not delivered' });
    browser = await sharedBrowser();
  });
  after(async () => {
    await server?.stop();
  });

  /** Brings the page into a state. Returns what must be visible. */
  type Reach = (page: Page) => Promise<Locator>;
  const at = (page: Page, hash: string) => page.goto(`${server.url}/#${hash}`);
  const dialog = (page: Page) => page.getByRole('dialog');

  const STATES: Record<string, Reach> = {
    'a plant with a long name': async (page) => {
      await at(page, '/plants?id=1');
      return page.getByRole('region', { name: 'History' }).getByText('Current');
    },
    'an edit of a tag': async (page) => {
      await at(page, '/plants?id=2');
      await page.getByTitle('Edit tag (T)').click();
      await page.getByRole('combobox', { name: 'Tag' }).fill('orchard');
      return page.getByText('1 unsaved change');
    },
    'the question about an unsaved edit': async (page) => {
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      const question = page.getByRole('alertdialog', { name: 'Discard 1 unsaved change?' });
      await question.waitFor();
      return question;
    },
    'a restore': async (page) => {
      await page.getByRole('button', { name: 'Discard', exact: true }).click();
      await at(page, '/plants?id=1');
      await page.getByRole('button', { name: 'Restore this version' }).first().click();
      return dialog(page).getByRole('button', { name: 'Restore' });
    },
    'the form for a plant': async (page) => {
      await at(page, '/plants?add=New');
      return dialog(page).getByRole('button', { name: 'Add plant' });
    },
    'the filter': async (page) => {
      await at(page, '/plants');
      await page.getByRole('button', { name: 'Filter' }).click();
      return page.getByRole('checkbox', { name: /No tag/ });
    },
    'nothing found': async (page) => {
      await at(page, '/plants?q=plantx&tag=tree');
      return page.getByRole('heading', { name: 'No plants match “plantx”' });
    },
    'the palette': async (page) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type('plant 1');
      return page.getByRole('option', { name: /Plant 1/ }).first();
    },
    'the shortcuts': async (page) => {
      await at(page, '/plants');
      await page.keyboard.press('?');
      return dialog(page).getByRole('heading', { name: 'Keyboard shortcuts' });
    },
    'a selection and the question before a deletion': async (page) => {
      await at(page, '/plants?sort=id');
      await page.locator('.tr[data-id="2"]').waitFor();
      await page.evaluate(() => (document.activeElement as HTMLElement).blur());
      await page.keyboard.press('j');
      await page.keyboard.press('x');
      await page.getByRole('toolbar', { name: '1 plant selected' }).waitFor();
      await page.keyboard.press('Delete');
      return page.getByRole('alertdialog').getByRole('button', { name: 'Delete 1 plant' });
    },
    'a conflict': async (page) => {
      await at(page, '/plants?id=3');
      await page.getByTitle('Edit tag (T)').click();
      await page.getByRole('combobox', { name: 'Tag' }).fill(`mine ${changes}`);
      await page.keyboard.press('Escape');
      await createClient({ url: server.url, token: secret }).patch(3n, { tag: `theirs ${changes++}` });
      await page.getByRole('button', { name: /^Save/ }).click();
      return dialog(page).getByText('Both changed it');
    },
    'the check of a file': async (page) => {
      await at(page, '/transfer');
      const buffer = Buffer.from(`id,name,tag\n200,New,tree\n2,Other,tree\nx,${LONG},\n`);
      await page.locator('input[type=file]').setInputFiles({ name: 'order.csv', mimeType: 'text/csv', buffer });
      return page.getByRole('button', { name: 'Import 1 plant' });
    },
    'a webhook with an open delivery': async (page) => {
      await at(page, '/webhooks');
      await page.getByText('Stock list').first().click();
      await page.getByText('100', { exact: true }).last().click();
      return page.getByText('webhook-id').first();
    },
    'the secret of a new token': async (page) => {
      await at(page, '/tokens?create=1');
      await dialog(page).getByRole('textbox', { name: 'Name' }).fill(`shop ${changes++}`);
      await dialog(page).getByRole('button', { name: 'Create token' }).click();
      await dialog(page).getByText('Copy it now.').waitFor();
      return dialog(page).getByRole('button', { name: 'Copy', exact: true });
    },
    'an open change': async (page) => {
      await at(page, '/activity');
      await page.locator('.ev-row').first().click();
      return page.getByRole('button', { name: 'Copy as JSON' });
    },
    'the form for a token': async (page) => {
      await at(page, '/tokens?create=1');
      return dialog(page).getByRole('button', { name: 'Create token' });
    },
    'the form for a webhook': async (page) => {
      await at(page, '/webhooks?create=1');
      return dialog(page).getByRole('button', { name: 'Add webhook' });
    },
  };

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 820, 390]) {
      test(`they fit at ${width} px and are accessible in the ${colorScheme} theme`, async () => {
        const options = { colorScheme, viewport: { width, height: 844 }, reducedMotion: 'reduce' as const };
        const { page, context, faults } = await openWindow(browser, server.url, options);
        await signIn(page, server.url, secret);
        for (const [state, reach] of Object.entries(STATES)) {
          const what = `${state} (${colorScheme}, ${width} px)`;
          await (await reach(page)).waitFor();
          await requireAccessible(page, what);
          await requireFits(page, what);
          if (state !== 'an edit of a tag' && state !== 'the question about an unsaved edit') await closeAll(page);
        }
        assert.ok(
          faults.every((fault) => fault.includes('412')),
          `${faults}`,
        );
        await context.close();
      });
    }
  }

  async function closeAll(page: Page): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${server.url}/`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
  }
});
