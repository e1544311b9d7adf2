// Tests webhooks of a real process, with the real clock and with its trusted certificates.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeCertificate, needsOpenssl } from '../../testing/certificate.ts';
import { type Received, startReceiver } from '../../testing/receiver.ts';
import type { Call } from '../../testing/request.ts';
import { addAdmin, makeFolder, startServer } from '../../testing/server.ts';

const env = { WEBHOOK_ALLOW_PRIVATE: '1' };

test('The server retries a failure after 5 s of real time, with the same id', async () => {
  const server = await startServer({ env });
  const { call } = await addAdmin(server);
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
  assert.equal((await call('POST', '/webhooks', { url: receiver.url })).status, 201);
  await call('PUT', '/plants/1', { name: 'a' });
  await receiver.count(1);
  receiver.answer((_request, response) => response.end());
  await receiver.count(2);
  const [first, again] = receiver.received as [Received, Received];
  assert.equal(again.headers['webhook-id'], first.headers['webhook-id']);
  const gapMs = again.atMs - first.atMs;
  assert.ok(gapMs >= 3900 && gapMs < 9000, `${gapMs} ms`);
  assert.equal(await server.stop(), 0);
});

test('NODE_EXTRA_CA_CERTS adds trusted certificates', needsOpenssl, async (t) => {
  const folder = makeFolder();
  makeCertificate(folder, 'DNS:localhost');
  const [key, cert] = ['key', 'crt'].map((end) => readFileSync(join(folder, `server.${end}`), 'utf8'));
  let requests = 0;
  const receiver = createServer({ key, cert }, (_request, response) => {
    requests++;
    response.end('ok');
  }).listen(0, '127.0.0.1');
  t.after(() => receiver.close().closeAllConnections());
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;

  const stranger = await startServer({ env });
  const { delivered, error } = await sendTest((await addAdmin(stranger)).call, `https://localhost:${port}/x`);
  assert.deepEqual([delivered, requests], [false, 0]);
  assert.match(error ?? '', /self-signed certificate/);
  await stranger.stop();

  const trusting = await startServer({ env: { ...env, NODE_EXTRA_CA_CERTS: join(folder, 'server.crt') } });
  const { call } = await addAdmin(trusting);
  const { milliseconds, ...result } = await sendTest(call, `https://localhost:${port}/x`);
  assert.deepEqual([result, requests], [{ delivered: true, code: 200, answer: 'ok' }, 1]);
  assert.ok(milliseconds >= 0);
  const { error: otherName } = await sendTest(call, `https://127.0.0.1:${port}/x`);
  assert.match(otherName ?? '', /does not match certificate's altnames/);
  await trusting.stop();
});

async function sendTest(
  call: Call,
  url: string,
): Promise<{ delivered: boolean; error?: string; milliseconds: number }> {
  const { id } = JSON.parse((await call('POST', '/webhooks', { url })).body);
  return JSON.parse((await call('POST', `/webhooks/${id}/test`)).body);
}
