// An empty store, a search without a match, and signing in, in a real browser.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openWindow, requireAccessible, signIn, startOver, type Window } from './window.ts';

describe('an empty store', needsBrowser, () => {
  let server: TestService;
  let secret: string;
  let window: Window;
  let page: Page;

  before(async () => {
    window = await openWindow(await sharedBrowser(), 'http://127.0.0.1');
    page = window.page;
  });

  beforeEach(async () => {
    server = await startTestService();
    secret = (await server.addToken({ name: 'owner', scopes: ['plants:read', 'plants:write', 'admin'] })).secret;
    await startOver(window, server.url, secret);
    await page.getByRole('heading', { name: 'Start your collection' }).waitFor();
  });

  after(async () => {
    const faults = window?.faults.filter((fault) => !fault.startsWith('requested http://127.0.0.1:'));
    assert.deepEqual(faults, []);
    await window?.context.close();
  });

  test('is filled by the form for the first plant', async () => {
    await requireAccessible(page, 'an empty store');
    const form = page.getByRole('form', { name: 'Add your first plant' });
    await form.getByLabel('Name').fill('Monstera deliciosa');
    await form.getByLabel('Id').fill('one');
    await form.getByRole('button', { name: 'Add plant' }).click();
    await form.getByText('The id must be a whole number').waitFor();
    assert.equal(await form.getByLabel('Id').evaluate((field) => field === document.activeElement), true);
    await form.getByLabel('Id').fill('9223372036854775807');
    await form.getByLabel('Tag').fill('tropical');
    await page.keyboard.press('Enter');
    await page.getByText('Added Monstera deliciosa').waitFor();
    const { name, tag } = (await server.store.get(9223372036854775807n)).record;
    assert.deepEqual([name, tag], ['Monstera deliciosa', 'tropical']);
    await page.getByRole('heading', { name: 'Start your collection' }).waitFor({ state: 'detached' });
  });

  test('is filled by a file, which is checked first', async () => {
    const file = join(makeFolder(), 'plants.csv');
    writeFileSync(file, 'id,name\n1,Ficus\n');
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Import 1 plant', exact: true }).click();
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    assert.equal((await server.store.get(1n)).record.name, 'Ficus');
  });

  test('is filled by an app with a token of its own', async () => {
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByText('Waiting for the first plant').waitFor();
    await requireAccessible(page, 'a token for an app');
    const command = (await page.locator('.choice-card .code pre').textContent()) ?? '';
    const [, url = '', token = ''] = /curl (\S+) .*Bearer (pst_\w+)"/s.exec(command) ?? [];
    assert.equal(url, `${server.url}/plants`);
    const app = createClient({ url: new URL('.', url), token });
    assert.deepEqual((await app.tokens.self()).scopes, ['plants:read', 'plants:write']);
    await app.create({ id: 1n, name: 'Ficus' });
    await page.getByRole('heading', { name: 'Start your collection' }).waitFor({ state: 'detached' });
  });

  test('offers a reader nothing that writes', async () => {
    const reader = await server.addToken({ name: 'reader', scopes: ['plants:read'] });
    await startOver(window, server.url, reader.secret);
    await page.getByText('Your token can read plants, but not store them.').waitFor();
    assert.equal(await page.getByRole('button', { name: /Create token|sample species/ }).count(), 0);
    assert.equal(await page.locator('input').count(), 0);
  });
});

test('a search without a match offers what would find something', needsBrowser, async () => {
  const server = await startTestService();
  await createClient({ url: server.url, token: server.secret }).import([
    { id: 1n, name: 'Ficus lyrata', tag: 'tree' },
    { id: 2n, name: 'Ficussima', tag: 'herb' },
    { id: 3n, name: 'Acer', tag: 'tree' },
  ]);
  const { page, context, faults } = await openWindow(await sharedBrowser(), server.url);
  await signIn(page, server.url, server.secret);
  await page.goto(`${server.url}/#/plants?q=ficuss&tag=tree`);
  await page.getByRole('heading', { name: 'No plants match “ficuss”' }).waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Search “ficus”' })
    .getByText('1 plant', { exact: true })
    .waitFor();
  const without = page.getByRole('listitem').filter({ hasText: 'Search without tree' });
  await without.getByText('1 plant', { exact: true }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Clear both' }).getByText('3 plants').waitFor();
  await page.getByRole('button', { name: 'Add “ficuss”' }).waitFor();
  await requireAccessible(page, 'a search without a match');
  await page.getByRole('button', { name: 'Search “ficus”' }).click();
  await page.waitForURL(/q=ficus&|q=ficus$/);
  assert.deepEqual(faults, []);
  await context.close();
  await server.stop();
});

test('signing in says what is wrong with a token', needsBrowser, async () => {
  const server = await startTestService();
  for (const [width, colorScheme] of [
    [320, 'light'],
    [1440, 'dark'],
  ] as const) {
    const viewport = { width, height: 800 };
    const { page, context, faults } = await openWindow(await sharedBrowser(), server.url, { viewport, colorScheme });
    await page.goto(`${server.url}/`);
    const field = page.getByLabel('Token');
    const submit = page.getByRole('button', { name: 'Sign in' });
    assert.equal(await field.evaluate((input) => input === document.activeElement), true);
    await submit.click();
    await page.getByText('Enter a token.').waitFor();
    await field.fill(server.secret.slice(0, -1));
    await submit.click();
    await page.getByText('A token has 40 characters, and this one has 39. Copy it again.').waitFor();
    assert.equal(faults.length, 0, 'nothing was sent');
    await field.fill(`pst_${'x'.repeat(36)}`);
    await submit.click();
    await page.getByText('The token is malformed, unknown, expired or revoked.').waitFor();
    assert.ok(faults.splice(0).every((fault) => fault.includes('401')));
    await page.getByRole('button', { name: 'Show characters' }).click();
    assert.equal(await field.getAttribute('type'), 'text');
    await page.getByText('Where do I get a token?').click();
    await page.getByText('bin/plant-store').waitFor();
    await requireAccessible(page, 'signing in');
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px wider than ${width}`);
    await field.fill(server.secret);
    await submit.click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  }
  await server.stop();
});
