// Tests of the headers for browsers and caches that every response has.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { callerOf, send, sendRaw } from '../../../testing/request.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { listOperations, type Operation } from '../../../torture/security/operations.ts';

suite('every response', () => {
  let server: TestService;
  let operations: Operation[];
  before(async () => {
    server = await startTestService();
    operations = await listOperations(server);
  });
  after(() => server.stop());

  test('with a valid token has nosniff and no-store, and no HSTS without TLS', async () => {
    const { secret } = await server.addToken({ scopes: ['plants:read', 'plants:write', 'admin'] });
    for (const { method, path, type, body } of operations) {
      const headers = { authorization: `Bearer ${secret}`, ...(type && { 'content-type': type }) };
      const answer = await send(server.port, { method, path, headers, ...(body && { body }) });
      const what = `${method} ${path} ${answer.status}`;
      assert.equal(answer.headers['x-content-type-options'], 'nosniff', what);
      assert.equal(answer.headers['cache-control'], 'no-store', what);
      assert.equal(answer.headers['strict-transport-security'], undefined, what);
    }
  });

  test('without a token, or with status 304, has the same headers', async () => {
    const call = callerOf(server, server.secret);
    const { headers } = await call('PUT', '/plants/5', { name: 'x' });
    const known = { authorization: `Bearer ${server.secret}`, 'if-none-match': String(headers.etag) };
    const answers = [
      await send(server.port, { path: '/healthz' }),
      await send(server.port, { path: '/readyz' }),
      await send(server.port, { path: '/plants' }),
      await send(server.port, { path: '/nowhere' }),
      await send(server.port, { method: 'POST', path: '/healthz' }),
      await send(server.port, { path: '/plants/5', headers: known }),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 401, 404, 405, 304],
    );
    for (const answer of answers) {
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
  });

  test('from the parser has the same headers', async () => {
    const answer = await sendRaw(server.port, 'nonsense\r\n\r\n');
    assert.match(answer, /^x-content-type-options: nosniff\r$/m);
    assert.match(answer, /^cache-control: no-store\r$/m);
  });
});
