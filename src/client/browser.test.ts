// Tests the client in a real browser, on a page that the server itself serves.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { build } from 'vite';
import { needsBrowser } from '../../testing/browser.ts';
import { startTestService } from '../../testing/service.ts';
import { sharedBrowser } from '../../testing/shared-browser.ts';

const ENTRY = join(import.meta.dirname, 'client.ts');

test('The client works in a browser: exact ids, pages, exports, events, errors', needsBrowser, async () => {
  const script = await bundle();
  const server = await startTestService();
  const page = await (await sharedBrowser()).newPage();
  try {
    await page.goto(`${server.url}/healthz`);
    const seen = await page.evaluate(useClient, { script, url: server.url, token: server.secret });
    assert.deepEqual(seen, {
      id: '9223372036854775807',
      imported: 1500,
      walked: 1500,
      exported: 1501,
      followed: 1501,
      code: 'not_found',
      fromFile: [1, 4],
      toFile: 'id,name,tag\n-1,"a\nb",\n0',
      counted: 1502,
      scopes: ['plants:read', 'plants:write'],
    });
  } finally {
    await page.close();
    await server.stop();
  }
});

/** Returns the client as a single script for the page. */
async function bundle(): Promise<string> {
  const lib = { entry: ENTRY, formats: ['es' as const] };
  const built = await build({ configFile: false, logLevel: 'error', build: { write: false, lib } });
  const [{ output }] = built as unknown as [{ output: [{ code: string }] }];
  return output[0].code;
}

/** Runs in the page. */
async function useClient({ script, url, token }: { script: string; url: string; token: string }) {
  const { createClient } = await import(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })));
  const store = createClient({ url, token });
  const count = async (values: AsyncIterable<unknown>, most = Number.POSITIVE_INFINITY) => {
    let counted = 0;
    for await (const _ of values) if (++counted === most) break;
    return counted;
  };
  await store.create({ id: 9223372036854775807n, name: 'Été', tag: '🌵' });
  const { record } = await store.get(9223372036854775807n);
  const plants = Array.from({ length: 1500 }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}` }));
  const toLines = ({ created, errors }: { created: number; errors: { line: number }[] }) => [
    created,
    ...errors.map(({ line }) => line),
  ];
  const csv = new Blob(['\ufeffid,name\r\n-1,"a\nb"\r\nx,y']);
  return {
    id: String(record.id),
    imported: (await store.import(plants)).created,
    walked: await count(store.walk({ q: 'plant', limit: 1000 })),
    exported: await count((await store.export()).plants),
    followed: await count(store.follow({ after: 0 }), 1501),
    code: await store.get(5000n).catch((error: { code: string }) => error.code),
    fromFile: toLines(await store.importFile(csv, { type: 'text/csv' })),
    toFile: (await new Response(await store.exportFile({ type: 'text/csv' })).text()).slice(0, 23),
    counted: (await store.summary()).plants,
    scopes: (await store.tokens.self()).scopes,
  };
}
