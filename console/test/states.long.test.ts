// Dialogs, menus and other states of the console in every size and theme: they fit, axe-core finds nothing, and the
// keyboard reaches every control.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { createClient, type PlantStoreClient } from '../../src/client/client.ts';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';
import { requireKeyboard } from './keyboard.ts';
import { LONG_NAME, OTHER_USERS, STATES } from './states.ts';
import { openWindow, requireAccessible, requireFits } from './window.ts';

/** Responses that some states show, and requests to the server of an empty store. */
const EXPECTED = /the server responded with a status of 4\d\d|^requested http:\/\/127\.0\.0\.1:/;

describe('the states of the console', needsBrowser, () => {
  let server: TestService;
  let emptyServer: TestService;
  let empty: { url: string; secret: string };
  let client: PlantStoreClient;
  let browser: Browser;
  let secret: string;
  let reader: string;
  let number = 0;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    emptyServer = await startTestService();
    const admin = { name: 'nursery', scopes: ['plants:read' as const, 'plants:write' as const, 'admin' as const] };
    ({ secret } = await server.addToken(admin));
    ({ secret: reader } = await server.addToken({ name: 'visitor', scopes: ['plants:read'] }));
    empty = { url: emptyServer.url, secret: (await emptyServer.addToken(admin)).secret };
    client = createClient({ url: server.url, token: secret });
    await client.import(
      Array.from({ length: 40 }, (_, n) => ({ id: BigInt(n + 1), name: `Plant ${n + 1}`, tag: 'tree' })),
    );
    await client.put(1n, { name: LONG_NAME, tag: 'a tag that is too long for its column' });
    await client.patch(1n, { tag: 'short' });
    await client.tokens.create({ name: 'printer', scopes: ['plants:read'] });
    const ended = await client.tokens.create({ name: 'kiosk', scopes: ['plants:read'] });
    await client.tokens.revoke(ended.id);
    await client.webhooks.create({ url: 'http://127.0.0.1:1/hooks', name: 'Stock list' });
    await client.create({ id: 100n, name: 'Not delivered' });
    browser = await sharedBrowser();
  });
  after(async () => {
    await server?.stop();
    await emptyServer?.stop();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 820, 390]) {
      for (const [state, reach] of Object.entries({ ...STATES, ...OTHER_USERS })) {
        test(`${state}: ${width} px, ${colorScheme} theme`, async ({ name }) => {
          const options = { colorScheme, viewport: { width, height: 844 }, reducedMotion: 'reduce' as const };
          const { page, context, faults } = await openWindow(browser, server.url, options);
          if (state in STATES) await page.addInitScript(saveToken, secret);
          const wanted = await reach({ page, url: server.url, client, empty, reader, number: number++ });
          await wanted.waitFor();
          await requireAccessible(page, name);
          await requireFits(page, name);
          if (colorScheme === 'light') await requireKeyboard(page, name); // The same in both themes.
          assert.deepEqual(
            faults.filter((fault) => !EXPECTED.test(fault)),
            [],
          );
          await context.close();
        });
      }
    }
  }
});

function saveToken(secret: string): void {
  sessionStorage.setItem('plant-store-token', secret);
}
