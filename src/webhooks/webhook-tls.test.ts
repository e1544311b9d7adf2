// Webhooks over https: the name of the URL is the one that is asked for and verified.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../testing/certificate.ts';
import { type Call, callerOf } from '../../testing/request.ts';
import { addToken, makeFolder, startServer, type TestServer } from '../../testing/server.ts';
import type { TestResult } from '../domain/webhook.ts';

suite('a receiver with a certificate', needsOpenssl, () => {
  const folder = makeFolder();
  const received: { name: unknown; host: string | undefined }[] = [];
  let receiver: Server;
  let port: number;

  before(async () => {
    makeCertificate(folder, 'DNS:localhost');
    const [cert, key] = ['server.crt', 'server.key'].map((file) => readFileSync(join(folder, file)));
    receiver = createServer({ cert, key }, (request, response) => {
      received.push({ name: (request.socket as TLSSocket).servername, host: request.headers.host });
      response.end('ok');
    });
    receiver.listen(0, '127.0.0.1');
    await new Promise((resolve) => receiver.once('listening', resolve));
    port = (receiver.address() as AddressInfo).port;
  });
  after(() => {
    receiver.closeAllConnections();
    receiver.close();
  });

  test('is sent to under its name, by who trusts it', async () => {
    const { server, call } = await start({ NODE_EXTRA_CA_CERTS: join(folder, 'server.crt') });
    assert.deepEqual(await tryIt(call, `https://localhost:${port}/x`), { delivered: true, code: 200, answer: 'ok' });
    assert.deepEqual(received, [{ name: 'localhost', host: `localhost:${port}` }]);
    const { error } = await tryIt(call, `https://127.0.0.1:${port}/x`);
    assert.match(error ?? '', /does not match certificate's altnames/);
    await server.stop();
  });

  test('gets nothing from who does not', async () => {
    const { server, call } = await start({});
    const before = received.length;
    const { delivered, error } = await tryIt(call, `https://localhost:${port}/x`);
    assert.equal(delivered, false);
    assert.match(error ?? '', /self-signed certificate/);
    assert.equal(received.length, before);
    await server.stop();
  });
});

async function start(env: Record<string, string>): Promise<{ server: TestServer; call: Call }> {
  const server = await startServer({ env: { WEBHOOK_ALLOW_PRIVATE: '1', ...env } });
  const { secret } = await addToken(server.databaseUrl, { scopes: ['admin', 'plants:read'] });
  return { server, call: callerOf(server, secret) };
}

async function tryIt(call: Call, url: string): Promise<Omit<TestResult, 'milliseconds'>> {
  const { id } = JSON.parse((await call('POST', '/webhooks', { url })).body);
  const { milliseconds, ...result } = JSON.parse((await call('POST', `/webhooks/${id}/test`)).body);
  assert.ok(milliseconds >= 0);
  return result;
}
