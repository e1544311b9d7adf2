// Creates a self-signed certificate for tests.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

export const needsOpenssl =
  spawnSync('openssl', ['version']).status === 0 ? {} : { skip: 'SKIPPED: openssl is missing' };

/** Writes server.crt and server.key. `name` has the form of a certificate: IP:127.0.0.1 or DNS:localhost. */
export function makeCertificate(folder: string, name: `${'IP' | 'DNS'}:${string}`): void {
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-new', '-x509', '-days', '2', '-nodes', '-newkey', 'rsa:2048'],
    ...['-out', join(folder, 'server.crt'), '-keyout', join(folder, 'server.key')],
    ...['-subj', `/CN=${name.replace(/^\w+:/, '')}`, '-addext', `subjectAltName=${name}`],
  ]);
  assert.equal(status, 0, String(stderr));
}
