// The list of plants with the keyboard alone.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { eventually } from '../../testing/until.ts';
import { requireKeyboard } from './keyboard.ts';
import { openWindow, signIn } from './window.ts';

describe('the list with the keyboard', needsBrowser, () => {
  let server: TestService;

  before(async () => {
    server = await startTestService();
    await createClient({ url: server.url, token: server.secret }).import(
      Array.from({ length: 2000 }, (_, n) => ({ id: BigInt(n + 1), name: `Plant ${n + 1}` })),
    );
  });
  after(async () => {
    await server?.stop();
  });

  async function open(width: number) {
    const window = await openWindow(await sharedBrowser(), server.url, { viewport: { width, height: 844 } });
    await signIn(window.page, server.url, server.secret);
    await window.page.goto(`${server.url}/#/plants?sort=id`);
    await window.page.getByRole('link', { name: 'Plant 1', exact: true }).waitFor();
    return window;
  }
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  /** Waits until a control with this name has the focus. */
  const requireFocus = (page: Page, name: string) =>
    eventually(async () => assert.equal(await page.evaluate(nameOfFocus), name));

  test('Tab passes one row of any number, and the arrow keys choose the row', async () => {
    const { page, context, faults } = await open(1440);
    await page.getByRole('button', { name: 'Updated', exact: true }).focus();
    await press(page, 'Tab');
    await requireFocus(page, 'Select Plant 1');
    await press(page, 'ArrowDown', 'ArrowDown');
    await requireFocus(page, 'Plant 3');
    await press(page, 'Tab');
    await requireFocus(page, 'Edit Plant 3');
    await press(page, 'ArrowDown', 'Tab', 'Tab', 'Tab');
    await requireFocus(page, 'Delete Plant 4');
    await press(page, 'Tab');
    await requireFocus(page, 'To the top');
    await press(page, 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab');
    await requireFocus(page, 'Plant 4');
    await page.getByRole('button', { name: 'To the end' }).click();
    await page.getByRole('link', { name: 'Plant 2000', exact: true }).waitFor();
    await page.getByRole('button', { name: 'To the top' }).focus();
    await press(page, 'Shift+Tab');
    const row = page.locator('.tr:focus-within');
    assert.ok(Number(await row.getAttribute('data-id')) > 1900, 'a visible row follows');
    assert.deepEqual(faults, []);
    await context.close();
  });

  test('on a phone the focus moves into the open plant, and back to its row', async () => {
    const { page, context, faults } = await open(390);
    await page.getByRole('link', { name: 'Plant 2', exact: true }).focus();
    await press(page, 'Enter');
    await requireFocus(page, 'Plant 2');
    await page.getByRole('complementary', { name: 'Plant 2' }).waitFor();
    await eventually(async () => assert.ok(await page.evaluate(() => document.activeElement?.matches('.drawer'))));
    assert.equal(await page.getByRole('link', { name: 'Plant 3', exact: true }).isVisible(), false);
    await press(page, 'Tab');
    await requireFocus(page, 'Back to the list');
    await press(page, 'Enter');
    await eventually(async () => assert.ok(await page.evaluate(() => document.activeElement?.matches('.c-name a'))));
    await requireFocus(page, 'Plant 2');
    assert.deepEqual(faults, []);
    await context.close();
  });
});

test(
  'the walk with Tab finds controls that it does not reach, and a focus that cannot be seen',
  needsBrowser,
  async () => {
    const { page, context } = await openWindow(await sharedBrowser(), 'http://127.0.0.1');
    const style = '<style>:focus-visible { outline: 2px solid } .plain { outline: none }</style>';
    const reached = '<button>A</button><label><input type="checkbox"> B</label>';
    await page.setContent(`${style}${reached}`);
    await requireKeyboard(page, 'two controls');
    for (const fault of [
      '<button tabindex="-1">Not reached</button>',
      '<button class="plain">No outline</button>',
      '<button style="position: fixed">A</button><div style="position: fixed; inset: 0">In front</div>',
    ]) {
      await page.setContent(`${style}${reached}${fault}`);
      await assert.rejects(requireKeyboard(page, fault), assert.AssertionError);
    }
    await context.close();
  },
);

function nameOfFocus(): string | undefined {
  const element = document.activeElement;
  return element?.getAttribute('aria-label') ?? element?.textContent?.trim();
}
