// Tests receivers over https: the client requests the host name of the URL and verifies the certificate against it.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { makeCertificate, needsOpenssl } from '../../testing/certificate.ts';
import { createReceiverClient, type Outcome } from './receiver-client.ts';
import { createTargetGuard } from './target-guard.ts';

const MESSAGE = { headers: { 'content-length': '2', 'webhook-id': 'msg_1' }, body: '{}' };

suite('a receiver with a certificate', needsOpenssl, () => {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-tls-'));
  const trusted = getCACertificates();
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
    setDefaultCACertificates(trusted);
    receiver.closeAllConnections();
    receiver.close();
    rmSync(folder, { recursive: true });
  });

  test('receives nothing from a client that does not trust it', async () => {
    const { delivered, error } = await post(`https://localhost:${port}/x`);
    assert.equal(delivered, false);
    assert.match(error ?? '', /self-signed certificate/);
    assert.deepEqual(received, []);
  });

  test('receives messages under its host name from a client that trusts it', async () => {
    setDefaultCACertificates([...trusted, readFileSync(join(folder, 'server.crt'), 'utf8')]);
    const { durationMs: _, ...outcome } = await post(`https://localhost:${port}/x`);
    assert.deepEqual(outcome, { delivered: true, code: 200, answer: 'ok' });
    assert.deepEqual(received, [{ name: 'localhost', host: `localhost:${port}` }]);
    const { error } = await post(`https://127.0.0.1:${port}/x`);
    assert.match(error ?? '', /does not match certificate's altnames/);
  });
});

async function post(url: string): Promise<Outcome> {
  const client = createReceiverClient(createTargetGuard({ allowPrivate: true }), assert.ifError);
  const outcome = await client.post(url, MESSAGE);
  client.close();
  return outcome;
}
