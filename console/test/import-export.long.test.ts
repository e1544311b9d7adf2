// The page for import and export in a real browser. transfer.long.test.ts has transfers that take long or fail.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Download, Page } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { openWindow, requireAccessible, signIn, type Window } from './window.ts';

const MAX_ID = 9223372036854775807n;

describe('the page for import and export', needsBrowser, () => {
  const folder = makeFolder();
  let server: TestService;
  let client: PlantStoreClient;
  let window: Window;
  let page: Page;

  before(async () => {
    server = await startTestService({ folder });
    client = createClient({ url: server.url, token: server.secret });
    window = await openWindow(await sharedBrowser(), server.url);
    page = window.page;
    await client.import([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
      { id: 2n, name: 'Ficus lyrata', tag: 'tropical' },
      { id: 3n, name: 'Ficus carica', tag: 'tree, small' },
      { id: 4n, name: ' "Unknown"\nplant ' },
    ]);
    await signIn(page, server.url, server.secret);
  });

  beforeEach(async () => {
    await page.goto('about:blank');
    await page.goto(`${server.url}/#/transfer`);
    await page.getByRole('heading', { level: 1, name: 'Import and export' }).waitFor();
  });

  after(async () => {
    assert.deepEqual(window?.faults, []);
    await window?.context.close();
    await server?.stop();
  });

  async function choose(name: string, text: string | Buffer): Promise<void> {
    writeFileSync(join(folder, name), text);
    await page.locator('input[type=file]').setInputFiles(join(folder, name));
  }

  async function saved(act: () => Promise<void>): Promise<Download> {
    const saving = page.waitForEvent('download');
    await act();
    return saving;
  }

  async function counts(): Promise<string[]> {
    return page.locator('.trio dd').allTextContents();
  }

  const click = (name: string | RegExp): Promise<void> => page.getByRole('button', { name }).click();

  test('a dropped file is checked first, then imported, and its refused lines are saved as a file', async () => {
    const text = `id,name,tag\n${MAX_ID},"Two\nlines",odd\nx,Bad id,\n1,Another plant,\n5,Rosa canina,shrub\n`;
    await page.locator('.drop').evaluate((zone, content) => {
      const data = new DataTransfer();
      data.items.add(new File([content], 'some.csv', { type: 'text/csv' }));
      zone.dispatchEvent(new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true }));
      zone.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, text);
    await page.getByText('Line 4 The id must be an integer').waitFor();
    assert.deepEqual(await page.locator('.tally b').allTextContents(), ['2', '1', '1']);
    assert.deepEqual(await page.locator('.has-bad th').allTextContents(), ['4', '5']);
    assert.deepEqual(await page.locator('.bad-cell').allTextContents(), ['x', '1']);
    await requireAccessible(page, 'a checked file');
    await assert.rejects(client.get(MAX_ID), { code: 'not_found' });
    await click('Import 2 plants');
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    assert.deepEqual(await counts(), ['2', '0', '2']);
    assert.equal((await client.get(MAX_ID)).record.name, 'Two\nlines');
    await requireAccessible(page, 'a finished import');
    const file = await saved(() => click('Download refused lines'));
    assert.equal(file.suggestedFilename(), 'some-refused.csv');
    assert.equal(readFileSync(await file.path(), 'utf8'), 'id,name,tag\nx,Bad id,\n1,Another plant,\n');
    await page.getByRole('link', { name: 'Show the 2 plants' }).waitFor();
    await click('Import another file');
    await page.getByRole('heading', { name: 'Export', exact: true }).waitFor();
  });

  test('a file of another kind is checked, and importing it again would store nothing', async () => {
    const lines = Array.from({ length: 3000 }, (_, n) => `{"id":${1_000_000 + n},"name":"Plant ${n}"}`).join('\n');
    await choose('more.txt', lines);
    await page.getByText('NDJSON', { exact: false }).first().waitFor();
    await click('Import 3,000 plants');
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    assert.deepEqual(await counts(), ['3,000', '0', '0']);
    await click('Import another file');
    await choose('more.txt', lines);
    await page.getByText('No line of this file is new').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Import 0 plants' }).isDisabled(), true);
    await click('Cancel');
    await choose('empty.csv', ' \n');
    await page.getByRole('alert').getByText('The file is empty').waitFor();
  });

  test('the user chooses the columns of a file whose header has other names', async () => {
    await choose('columns.csv', 'number,plant,tag\n70,Rosa,shrub\n71,Salix,tree\n');
    await page.getByText('The first line has no column "id"').waitFor();
    await page.getByLabel('Column number becomes').selectOption('id');
    await page.getByLabel('Column plant becomes').selectOption('name');
    await page.getByLabel('Column tag becomes').selectOption('');
    await click('Import 2 plants');
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    const { name, tag } = (await client.get(71n)).record;
    assert.deepEqual([name, tag], ['Salix', undefined]);
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('a file from Excel is recognised, converted and imported, with the line numbers of the file', async () => {
    const text = 'sep=;\r\nid;name;tag\r\n80;Gänseblümchen;Wiese, feucht\r\nx;Süß;\r\n81;"Weiß; rot";""\r\n';
    await choose('stock.csv', Buffer.from(text, 'latin1'));
    await page.getByText('CSV with 3 columns, Windows-1252, semicolon').waitFor();
    await page.getByText('Line 4 The id must be an integer').waitFor();
    assert.deepEqual(await page.locator('.preview tbody th').allTextContents(), ['3', '4', '5']);
    assert.equal(await page.locator('.preview').getByText('Gänseblümchen').count(), 1);
    await requireAccessible(page, 'a converted file');
    await click('Import 2 plants');
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    assert.deepEqual(await counts(), ['2', '0', '1']);
    const { name, tag } = (await client.get(80n)).record;
    assert.deepEqual([name, tag], ['Gänseblümchen', 'Wiese, feucht']);
    assert.equal((await client.get(81n)).record.tag, '');
    const file = await saved(() => click('Download refused lines'));
    assert.equal(readFileSync(await file.path(), 'utf8'), '"id",name,tag\nx,Süß,\n');
  });

  test('the user chooses another delimiter and encoding, and the focus stays', async () => {
    await choose('stock.csv', Buffer.from('id\tPlant; a; b\n82\t\x9f\xf3\xb3; c; d\n', 'latin1'));
    await page.getByText('CSV with 3 columns, Windows-1252, semicolon').waitFor();
    assert.deepEqual(await page.locator('.read-as .sub').allTextContents(), ['recognised', 'recognised']);
    await page.getByText('The first line has no column "id"').waitFor();
    const encoding = page.getByLabel('Encoding');
    await encoding.focus();
    await encoding.selectOption('Windows-1250');
    await page.locator('.preview').getByText('źół').waitFor();
    assert.deepEqual(await page.locator('.read-as .sub').allTextContents(), ['recognised', 'chosen']);
    assert.equal(await encoding.evaluate((select) => select === document.activeElement), true);
    await page.getByLabel('Delimiter').selectOption('Tab');
    await page.getByText('CSV with 2 columns, Windows-1250, tab').waitFor();
    await page.getByLabel('Column Plant; a; b becomes').selectOption('name');
    await click('Import 1 plant');
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    assert.equal((await client.get(82n)).record.name, 'źół; c; d');
    assert.ok(window.faults.splice(0).every((fault) => fault.includes('400')));
  });

  test('the sample species are imported', async () => {
    await click(/^Try \d+ sample species$/);
    await page.getByRole('heading', { name: 'Import finished' }).waitFor();
    const text = readFileSync(new URL('../../examples/species.csv', import.meta.url), 'utf8');
    assert.deepEqual(await counts(), [String(text.trimEnd().split('\n').length - 1), '0', '0']);
  });

  for (const [format, ending, accept] of [
    ['CSV', 'csv', 'text/csv'],
    ['NDJSON', 'ndjson', 'application/x-ndjson'],
  ] as const) {
    test(`an export as ${format} equals the response of the service`, async () => {
      await page.getByRole('button', { name: format, exact: true }).click();
      const file = await saved(() => click(/^Export/));
      assert.match(file.suggestedFilename(), new RegExp(`^plants-\\d{4}-\\d\\d-\\d\\d\\.${ending}$`));
      const headers = { authorization: `Bearer ${server.secret}`, accept };
      const given = await (await fetch(`${server.url}/plants/export`, { headers })).text();
      assert.equal(readFileSync(await file.path(), 'utf8'), given);
    });
  }

  test('an export of the current filter has the plants that match', async () => {
    await page.goto(`${server.url}/#/transfer?tag=tropical&tag=tree%2C+small&q=fi`);
    await page.getByRole('button', { name: 'Current filter 2' }).waitFor();
    const file = await saved(() => click('Export 2 plants'));
    const text = readFileSync(await file.path(), 'utf8');
    assert.equal(text, 'id,name,tag\n2,Ficus lyrata,tropical\n3,Ficus carica,"tree, small"\n');
    await requireAccessible(page, 'an export of a filter');
  });
});
