// No dependency has a known vulnerability of severity high or critical. The check itself is tested on registries that
// report one, that report none, and that do not respond.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { type Audit, audit } from './npm-audit.ts';
import { makeFolder } from './server.ts';

test('no dependency has a known high or critical vulnerability', async (t) => {
  const { unknown, found } = await audit();
  if (unknown !== undefined) return t.skip(`SKIPPED: the registry did not report vulnerabilities: ${unknown}`);
  assert.deepEqual(found, []);
});

const ADVISORY = {
  id: 1,
  url: 'https://example.com/advisory',
  title: 'Anybody may read the store',
  severity: 'high',
  vulnerable_versions: '*',
};

for (const [name, advisories, expected] of [
  ['reports a high one', { pg: [ADVISORY] }, ['high pg: Anybody may read the store']],
  ['ignores a moderate one', { pg: [{ ...ADVISORY, severity: 'moderate' }] }, []],
] as const) {
  test(`of the vulnerabilities that a registry reports, the check ${name}`, async () => {
    const answer: RequestListener = (_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(advisories));
    };
    assert.deepEqual(await withRegistry(answer), { found: expected });
  });
}

test('a registry that does not report vulnerabilities proves nothing', async () => {
  const { unknown, found } = await withRegistry((_request, response) => response.writeHead(405).end());
  assert.match(String(unknown), /405|audit/);
  assert.deepEqual(found, []);
});

/** Uses a cache of its own, because npm caches the registry's response. */
async function withRegistry(answer: RequestListener): Promise<Audit> {
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url?.endsWith('/advisories/bulk')) answer(request, response);
    else response.writeHead(404).end(); // npm requests the metadata of a package with a vulnerability.
    request.resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    return await audit(`--registry=http://127.0.0.1:${port}/`, `--cache=${makeFolder()}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}
