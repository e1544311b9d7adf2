// Tests of CORS: the headers that browsers receive, and a page in a real browser.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { needsBrowser } from '../../../testing/browser.ts';
import { type Answer, send } from '../../../testing/request.ts';
import { query } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { sharedBrowser } from '../../../testing/shared-browser.ts';

const SHOP = 'https://shop.example.com';
const EXPOSED = /^Link, ETag, Location, Total-Count, Last-Seq, RateLimit, RateLimit-Policy\b/;

function preflight({ port }: TestService, origin: string, path = '/plants'): Promise<Answer> {
  const headers = {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  return send(port, { method: 'OPTIONS', path, headers });
}

function corsOf({ headers }: Answer): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('access-control-'));
}

suite('CORS_ORIGINS with two origins', () => {
  let server: TestService;
  before(async () => {
    server = await startTestService({ env: { CORS_ORIGINS: `${SHOP}, http://localhost:5173` } });
  });
  after(() => server.stop());

  test('a preflight needs no credentials and gets the same response on every path', async () => {
    for (const path of ['/plants', '/plants/1', '/tokens', '/nowhere', '/plants/%zz']) {
      const { status, headers, body } = await preflight(server, SHOP, path);
      assert.deepEqual([status, body], [204, ''], path);
      assert.equal(headers['access-control-allow-origin'], SHOP);
      assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE');
      assert.match(headers['access-control-allow-headers'] ?? '', /Authorization, Content-Type, If-Match/);
      assert.equal(headers['access-control-allow-credentials'], undefined);
      assert.equal(headers.vary, 'Origin');
      assert.ok(headers['x-request-id']);
    }
  });

  test('every response to a configured origin has CORS headers, including errors and streams', async () => {
    const authorization = `Bearer ${server.secret}`;
    for (const [path, own] of [
      ['/plants', { authorization }],
      ['/plants', {}],
      ['/plants/5', { authorization }],
      ['/plants/export', { authorization }],
      ['/healthz', {}],
      ['/%zz', {}],
    ] as const) {
      const { headers } = await send(server.port, { path, headers: { origin: 'http://localhost:5173', ...own } });
      assert.equal(headers['access-control-allow-origin'], 'http://localhost:5173', path);
      assert.match(headers['access-control-expose-headers'] ?? '', EXPOSED);
      assert.match(headers.vary ?? '', path === '/plants/export' ? /^Origin, accept$/ : /^Origin$/);
    }
  });

  test('other origins get no CORS headers', async () => {
    for (const origin of ['https://evil.example', `${SHOP}.evil.example`, 'null', `${SHOP}:444`, SHOP.toUpperCase()]) {
      const answer = await preflight(server, origin);
      assert.deepEqual([answer.status, corsOf(answer)], [401, []], origin);
    }
    const plain = await send(server.port, { path: '/healthz' });
    assert.deepEqual([corsOf(plain), plain.headers.vary], [[], 'Origin']);
  });

  test('OPTIONS without a preflight gets 405', async () => {
    const headers = { origin: SHOP, authorization: `Bearer ${server.secret}` };
    assert.equal((await send(server.port, { method: 'OPTIONS', path: '/plants', headers })).status, 405);
  });
});

test('CORS_ORIGINS=* allows any page, and responses do not vary by origin', async () => {
  const server = await startTestService({ env: { CORS_ORIGINS: '*' } });
  const { status, headers } = await preflight(server, 'https://anybody.example');
  assert.deepEqual([status, headers['access-control-allow-origin'], headers.vary], [204, '*', undefined]);
  await server.stop();
});

test('without CORS_ORIGINS no response has CORS headers', async () => {
  const server = await startTestService();
  const answers = [
    await preflight(server, SHOP),
    await send(server.port, { path: '/healthz', headers: { origin: SHOP } }),
    await send(server.port, { path: '/plants', headers: { origin: SHOP, authorization: `Bearer ${server.secret}` } }),
  ];
  assert.deepEqual(
    answers.map((answer) => [answer.status, corsOf(answer), answer.headers.vary]),
    [
      [401, [], undefined],
      [200, [], undefined],
      [200, [], undefined],
    ],
  );
  await server.stop();
});

test(
  'a page of a configured origin can create a plant, and a page of another origin cannot',
  needsBrowser,
  async () => {
    const page = createServer((_request, response) => response.setHeader('content-type', 'text/html').end('<p>A shop'));
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
    const named = await startTestService({ env: { CORS_ORIGINS: `${SHOP},${origin}` } });
    const unnamed = await startTestService({ env: { CORS_ORIGINS: SHOP } });
    const unset = await startTestService();
    const limited = await named.addToken({ rate: { count: 100, periodMs: 60_000 } });
    const tab = await (await sharedBrowser()).newPage();
    try {
      await tab.goto(origin);
      const create = (server: TestService, token: string) => tab.evaluate(createPlant, { url: server.url, token });
      assert.deepEqual(await create(named, limited.secret), {
        status: 200,
        etag: '"1"',
        location: '/plants/7',
        ratelimit: '"token";r=99;t=1',
        body: '{"name":"Monstera"}',
      });
      assert.equal(query(named.databasePath, 'SELECT * FROM plants').length, 1);
      for (const server of [unnamed, unset]) {
        assert.deepEqual(await create(server, server.secret), { error: 'TypeError' });
        assert.equal(query(server.databasePath, 'SELECT * FROM plants').length, 0);
      }
    } finally {
      await tab.close();
      page.close();
      await Promise.all([named, unnamed, unset].map((server) => server.stop()));
    }
  },
);

/** Runs inside the page. */
async function createPlant({ url, token }: { url: string; token: string }) {
  try {
    const response = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"id":7,"name":"Monstera"}',
    });
    const { status, headers } = response;
    const [etag, location, ratelimit] = ['etag', 'location', 'ratelimit'].map((name) => headers.get(name));
    return { status, etag, location, ratelimit, body: await response.text() };
  } catch (error) {
    return { error: (error as Error).name };
  }
}
