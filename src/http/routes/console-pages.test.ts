// Tests of the pages over HTTP: their headers, and that no other file can be read through them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { send } from '../../../testing/request.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';

describe('the pages', () => {
  let server: TestService;
  let based: TestService;
  before(async () => {
    [server, based] = await Promise.all([startTestService(), startTestService({ env: { BASE_PATH: '/store' } })]);
  });
  after(() => Promise.all([server.stop(), based.stop()]));

  for (const path of ['/', '/docs']) {
    test(`${path} needs no token, loads nothing from other origins, and cannot be framed`, async () => {
      const { status, headers } = await send(server.port, { path });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cache-control'], 'no-cache');
      const policy = String(headers['content-security-policy']);
      for (const part of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) {
        assert.ok(policy.split('; ').includes(part), `${part} in ${policy}`);
      }
      assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
    });

    test(`${path} refers only to existing files, which caches may keep forever`, async () => {
      const { body } = await send(server.port, { path });
      const names = [...body.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name as string);
      assert.ok(names.length >= 2);
      for (const name of names) {
        const { status, headers } = await send(server.port, { path: `/${name}` });
        assert.equal(status, 200, name);
        assert.match(String(headers['cache-control']), /immutable/);
        assert.equal(headers['x-content-type-options'], 'nosniff');
      }
    });
  }

  test('include the sample species as CSV', async () => {
    const folder = new URL('../../../dist/console/assets/', import.meta.url);
    const [name = ''] = readdirSync(folder).filter((file) => file.endsWith('.csv.gz'));
    const { status, headers, body } = await send(server.port, { path: `/assets/${name.replace(/\.gz$/, '')}` });
    assert.deepEqual([status, headers['content-type']], [200, 'text/csv; charset=utf-8']);
    assert.equal(body, readFileSync(new URL('../../../examples/species.csv', import.meta.url), 'utf8'));
  });

  test('are compressed for clients that accept gzip, uncompressed for others, and 304 for cached copies', async () => {
    const plain = await send(server.port, { path: '/' });
    const none = await send(server.port, { path: '/', headers: { 'accept-encoding': 'br, gzip;q=0' } });
    const packed = await send(server.port, { path: '/', headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(packed.headers['content-encoding'], 'gzip');
    assert.equal(packed.headers.vary, 'accept-encoding');
    const unpacked = await (await fetch(`${server.url}/`, { headers: { 'accept-encoding': 'gzip' } })).text();
    assert.equal(unpacked, plain.body);
    assert.equal(none.body, plain.body);
    assert.notEqual(packed.headers.etag, plain.headers.etag);
    const again = await send(server.port, { path: '/', headers: { 'if-none-match': String(plain.headers.etag) } });
    assert.deepEqual([again.status, again.body.length], [304, 0]);
    for (const known of [`W/${plain.headers.etag}`, `"x", ${plain.headers.etag}`, '*']) {
      assert.equal((await send(server.port, { path: '/', headers: { 'if-none-match': known } })).status, 304, known);
    }
    for (const accepted of ['gzip;q=0.0', 'not-gzip', 'identity']) {
      const { headers } = await send(server.port, { path: '/', headers: { 'accept-encoding': accepted } });
      assert.equal(headers['content-encoding'], undefined, accepted);
    }
    const head = await send(server.port, { method: 'HEAD', path: '/' });
    assert.deepEqual([head.headers['content-length'], head.body.length], [plain.headers['content-length'], 0]);
  });

  for (const name of ['nothing.js', '..%2Findex.html', '%2e%2e%2findex.html', 'x.map', 'a%00.js', '..', 'index.html']) {
    test(`the file ${name} is not served`, async () => {
      const { status, headers, body } = await send(server.port, { path: `/assets/${name}` });
      assert.equal(status, 404);
      assert.equal(headers['cache-control'], 'no-store');
      assert.equal(JSON.parse(body).error, 40400);
    });
  }

  test('are served below a base path, with or without the final slash', async () => {
    const { status, headers } = await send(based.port, { path: '/store' });
    assert.deepEqual([status, headers.location], [308, '/store/']);
    assert.equal((await send(based.port, { path: '/store/' })).status, 200);
    assert.equal((await send(based.port, { path: '/store/docs' })).status, 200);
    assert.equal((await send(based.port, { path: '/' })).status, 404);
  });

  test('support no other method', async () => {
    const { status, headers } = await send(server.port, { method: 'POST', path: '/', body: '{}' });
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD']);
  });
});
