// Dialogs, menus and other states of the console, and how a user reaches them.

import type { Locator, Page } from 'playwright-core';
import type { PlantStoreClient } from '../../src/client/client.ts';
import { BUSY, signIn } from './window.ts';

export const LONG_NAME = `Crataegus ${'× media '.repeat(20)}`;

export interface Stage {
  page: Page;
  url: string;
  client: PlantStoreClient;
  /** URL of an empty store and the secret of its token. */
  empty: { url: string; secret: string };
  /** Secret of a token that can only read plants. */
  reader: string;
  /** Different each time, for names and tags. */
  number: number;
}

/** Brings the page into a state. Returns what must be visible. */
type Reach = (stage: Stage) => Locator | Promise<Locator>;

const at = async ({ page, url }: Stage, hash: string): Promise<Page> => {
  await page.goto(`${url}/#${hash}`);
  return page;
};
const dialog = (page: Page): Locator => page.getByRole('dialog');
const button = (page: Page | Locator, name: string | RegExp): Locator => page.getByRole('button', { name });

const PLANTS: Record<string, Reach> = {
  'a plant with a long name': async (stage) => {
    const page = await at(stage, '/plants?id=1');
    return page.getByRole('region', { name: 'History' }).getByText('Current');
  },
  'an edit of a tag': editTag,
  'the question about an unsaved edit': async (stage) => {
    await (await editTag(stage)).waitFor();
    await stage.page.keyboard.press('Escape');
    await stage.page.keyboard.press('Escape');
    return stage.page.getByRole('alertdialog', { name: 'Discard 1 unsaved change?' });
  },
  'a restore': async (stage) => {
    const page = await at(stage, '/plants?id=1');
    await button(page, 'Restore this version').first().click();
    return button(dialog(page), 'Restore');
  },
  'the menu of a plant': async (stage) => {
    const page = await at(stage, '/plants?id=1');
    await button(page, 'More actions').click();
    return page.getByRole('menuitem', { name: 'Duplicate' });
  },
  'a missing plant': async (stage) => (await at(stage, '/plants?id=404')).getByText('No plant has id 404'),
  'the form for a plant': async (stage) => {
    const page = await at(stage, '/plants?add=New');
    return button(dialog(page), 'Add plant');
  },
  'the filter': async (stage) => {
    const page = await at(stage, '/plants');
    await button(page, 'Filter').click();
    return page.getByRole('checkbox', { name: /No tag/ });
  },
  'a filtered list': async (stage) => (await at(stage, '/plants?tag=tree&untagged=1')).getByText('No tag').first(),
  'nothing found': async (stage) => {
    const page = await at(stage, '/plants?q=plantx&tag=tree');
    return page.getByRole('heading', { name: 'No plants match “plantx”' });
  },
  'a selection and the question before a deletion': async (stage) => {
    await (await select(stage)).waitFor();
    await stage.page.keyboard.press('Delete');
    return button(stage.page.getByRole('alertdialog'), 'Delete 1 plant');
  },
  'a tag for a selection': async (stage) => {
    await (await select(stage)).waitFor();
    await stage.page.keyboard.press('t');
    return stage.page.getByRole('dialog').getByRole('textbox');
  },
  'a conflict': async (stage) => {
    const page = await at(stage, '/plants?id=3');
    await page.getByTitle('Edit tag (T)').click();
    await page.getByRole('combobox', { name: 'Tag' }).fill(`mine ${stage.number}`);
    await page.keyboard.press('Escape');
    await stage.client.patch(3n, { tag: `theirs ${stage.number}` });
    await button(page, /^Save/).click();
    return dialog(page).getByText('Both changed it');
  },
  'plants that cannot be loaded': async (stage) => {
    await stage.page.route('**/plants?*', (route) => route.fulfill(BUSY));
    return (await at(stage, '/plants?sort=name')).getByText('The store is busy').first();
  },
};

const OTHERS: Record<string, Reach> = {
  'the palette': async (stage) => {
    const page = await at(stage, '/plants');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('plant 1');
    return page.getByRole('option', { name: /Plant 1/ }).first();
  },
  'the shortcuts': async (stage) => {
    const page = await at(stage, '/plants');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.keyboard.press('?');
    return dialog(page).getByRole('heading', { name: 'Keyboard shortcuts' });
  },
  'an open change': async (stage) => {
    const page = await at(stage, '/activity');
    await page.locator('.ev-row').first().click();
    return button(page, 'Copy as JSON');
  },
  'no change for the filters': async (stage) => {
    return (await at(stage, '/activity?type=deleted')).getByText('No changes found');
  },
  'the check of a file': async (stage) => {
    await chooseFile(stage, `id,name,tag\n200,New,tree\n2,Other,tree\nx,${LONG_NAME},\n`);
    return button(stage.page, 'Import 1 plant');
  },
  'columns to choose': async (stage) => {
    await chooseFile(stage, 'number,plant,tag\n70,Rosa,shrub\n');
    return stage.page.getByLabel('Column number becomes');
  },
  'an import in progress': async (stage) => {
    await chooseFile(stage, `id,name\n${1000 + stage.number},New\n`);
    await button(stage.page, 'Import 1 plant').waitFor();
    await stage.page.route('**/plants/import*', () => {}); // It gets no response.
    await button(stage.page, 'Import 1 plant').click();
    return button(stage.page, 'Stop import');
  },
  'a finished import': async (stage) => {
    await chooseFile(stage, `id,name\n${1000 + stage.number},New\n2,Other\nx,${LONG_NAME}\n`);
    await button(stage.page, 'Import 1 plant').click();
    return button(stage.page, 'Download refused lines');
  },
};

const ADMIN: Record<string, Reach> = {
  'the form for a token': async (stage) => button(dialog(await at(stage, '/tokens?create=1')), 'Create token'),
  'the secret of a new token': async (stage) => {
    const page = await at(stage, '/tokens?create=1');
    await dialog(page).getByRole('textbox', { name: 'Name' }).fill(`shop ${stage.number}`);
    await button(dialog(page), 'Create token').click();
    await dialog(page).getByText('Copy it now.').waitFor();
    return dialog(page).getByRole('button', { name: 'Copy', exact: true });
  },
  'an edit of a token': async (stage) => button(dialog(await workOnToken(stage, 'Edit')), 'Save token'),
  'the rotation of a token': async (stage) => button(dialog(await workOnToken(stage, 'Rotate')), 'Rotate secret'),
  'a rotated token': async (stage) => {
    const page = await workOnToken(stage, 'Rotate');
    await button(dialog(page), 'Rotate secret').click();
    return dialog(page).getByLabel('Secret', { exact: true });
  },
  'the revocation of a token': async (stage) => {
    const page = await workOnToken(stage, 'Revoke');
    return button(page.getByRole('alertdialog'), 'Revoke token');
  },
  'ended tokens': async (stage) => {
    const page = await at(stage, '/tokens');
    await page.getByRole('link', { name: /^Ended/ }).click();
    return page.getByText('Revoked').first();
  },
  'the form for a webhook': async (stage) => button(dialog(await at(stage, '/webhooks?create=1')), 'Add webhook'),
  'a webhook with an open delivery': async (stage) => {
    const page = await openWebhook(stage);
    await page.getByText('100', { exact: true }).last().click();
    return page.getByText('webhook-id').first();
  },
  'an edit of a webhook': async (stage) => button(dialog(await workOnWebhook(stage, 'Edit')), 'Save webhook'),
  'a replay': async (stage) => {
    return dialog(await workOnWebhook(stage, 'Replay from a change')).getByLabel('First change');
  },
  'the deletion of a webhook': async (stage) => {
    const page = await workOnWebhook(stage, 'Delete webhook');
    return button(page.getByRole('alertdialog'), 'Delete webhook');
  },
  'a test of a webhook': async (stage) => {
    const page = await openWebhook(stage);
    await button(page, 'Send test').click();
    return page.getByText(/^Test not delivered/).first();
  },
};

/** States of a user who has signed in with a token that can do everything. */
export const STATES: Record<string, Reach> = { ...PLANTS, ...OTHERS, ...ADMIN };

/** States that start on the sign-in page. */
export const OTHER_USERS: Record<string, Reach> = {
  'signing in with a wrong token': async ({ page, url }) => {
    await page.goto(`${url}/`);
    await page.getByText('Where do I get a token?').click();
    await page.getByLabel('Token').fill(`pst_${'x'.repeat(36)}`);
    await button(page, 'Sign in').click();
    return page.locator('[aria-invalid=true]');
  },
  'plants for a reader': async (stage) => {
    await signIn(stage.page, stage.url, stage.reader);
    return (await at(stage, '/plants?id=2')).getByRole('region', { name: 'History' }).getByText('Current');
  },
  'an empty store': async ({ page, empty }) => {
    await signIn(page, empty.url, empty.secret);
    return page.getByRole('heading', { name: 'Start your collection' });
  },
  'a token for an app': async ({ page, empty }) => {
    await signIn(page, empty.url, empty.secret);
    await button(page, 'Create token').click();
    return page.getByText('Waiting for the first plant');
  },
};

async function editTag(stage: Stage): Promise<Locator> {
  const page = await at(stage, '/plants?id=2');
  await page.getByTitle('Edit tag (T)').click();
  await page.getByRole('combobox', { name: 'Tag' }).fill('orchard');
  return page.getByText('1 unsaved change');
}

async function select(stage: Stage): Promise<Locator> {
  const page = await at(stage, '/plants?sort=id');
  await page.locator('.tr[data-id="2"]').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  return page.getByRole('toolbar', { name: '1 plant selected' });
}

async function chooseFile(stage: Stage, text: string): Promise<void> {
  const page = await at(stage, '/transfer');
  const file = { name: 'order.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type=file]').setInputFiles(file);
}

/** Opens a dialog of the token "printer", whose actions are in a menu on a narrow screen. */
async function workOnToken(stage: Stage, action: 'Edit' | 'Rotate' | 'Revoke'): Promise<Page> {
  const page = await at(stage, '/tokens');
  const own = button(page, `${action} printer`);
  const menu = button(page, 'Actions for printer');
  await own.or(menu).filter({ visible: true }).first().click();
  if (await menu.isVisible()) await page.getByRole('menuitem', { name: action }).click();
  return page;
}

async function openWebhook(stage: Stage): Promise<Page> {
  const page = await at(stage, '/webhooks');
  await page.getByText('Stock list').first().click();
  return page;
}

async function workOnWebhook(stage: Stage, action: string): Promise<Page> {
  const page = await openWebhook(stage);
  await button(page, 'More actions').click();
  await page.getByRole('menuitem', { name: action }).click();
  return page;
}
