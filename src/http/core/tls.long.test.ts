// Tests of TLS on the real process: start, stop and output. tls.test.ts has the other tests.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import { LAUNCHER, makeFolder, startServer } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';

suite('TLS', needsOpenssl, () => {
  const folders = [makeFolder(), makeFolder()] as const;
  const [files, others] = [filesIn(folders[0]), filesIn(folders[1])];
  before(() => {
    for (const folder of folders) makeCertificate(folder, 'IP:127.0.0.1');
  });

  test('the service log reports a replaced certificate, first as one that does not match its key', async () => {
    const live = makeFolder();
    const env = { TLS_CERT: join(live, 'cert.pem'), TLS_KEY: join(live, 'key.pem') };
    copyFileSync(files.TLS_CERT, env.TLS_CERT);
    copyFileSync(files.TLS_KEY, env.TLS_KEY);
    const server = await startServer({ env });
    copyFileSync(others.TLS_KEY, env.TLS_KEY);
    const refusal = /the old one remains in use: TLS_CERT and TLS_KEY are not a certificate/;
    await until(() => refusal.test(server.output()));
    copyFileSync(others.TLS_CERT, env.TLS_CERT);
    await until(() => /Loaded a new certificate, valid until \d{4}-/.test(server.output()));
    await server.stop();
  });

  test('a client that trusts the certificate through NODE_EXTRA_CA_CERTS works as usual', async () => {
    const server = await startServer({ env: files });
    const script = `
      import { createClient } from ${JSON.stringify(join(import.meta.dirname, '../../client/client.ts'))};
      const client = createClient({ url: process.argv[1], token: process.argv[2] });
      await client.create({ id: 9223372036854775807n, name: 'x' });
      console.log(String((await client.get(9223372036854775807n)).record.id));`;
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script, server.url, server.secret],
      { env: { ...process.env, NODE_EXTRA_CA_CERTS: files.TLS_CERT }, encoding: 'utf8' },
    );
    assert.equal(stdout, '9223372036854775807\n', stderr);
    await server.stop();
  });

  test('SIGTERM stops the process cleanly, even with a client that has sent nothing', async () => {
    const other = await startServer({
      env: files,
    });
    const silent = connectPlain(other.port).on('error', () => {});
    await sleep(200);
    const begunMs = performance.now();
    assert.equal(await other.stop(), 0);
    assert.ok(performance.now() - begunMs < 5000);
    assert.match(other.output(), /"kind":"stopped"/);
    silent.destroy();
  });

  const BAD: [name: string, env: Record<string, string>, says: RegExp][] = [
    ['a missing file', { TLS_CERT: '/nowhere.pem' }, /^plant-store: TLS_CERT cannot be read: ENOENT.*\n$/],
    ['an empty file', { TLS_CERT: '/dev/null', TLS_KEY: '/dev/null' }, /are not a certificate and its key: .*\n$/],
    [
      'a file without a certificate',
      { TLS_CERT: LAUNCHER },
      /^plant-store: TLS_CERT and TLS_KEY are not a certificate .*\n$/,
    ],
    ['the key of another certificate', { TLS_KEY: others.TLS_KEY }, /are not a certificate and its key: .*\n$/],
  ];
  for (const [name, env, says] of BAD) {
    test(`${name} prints one line and exits with status 2 before the database is opened`, () => {
      const path = join(makeFolder(), 'plants.db');
      const { status, stderr } = spawnSync(process.execPath, [LAUNCHER, 'serve'], {
        env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}`, ...files, ...env },
        encoding: 'utf8',
      });
      assert.equal(status, 2);
      assert.match(stderr, says);
      assert.throws(() => readFileSync(path));
    });
  }
});

function filesIn(folder: string): { TLS_CERT: string; TLS_KEY: string } {
  return { TLS_CERT: join(folder, 'server.crt'), TLS_KEY: join(folder, 'server.key') };
}

test('without TLS on a public address, the service log warns that tokens can be read', async () => {
  const server = await startServer({ env: { HOST: '0.0.0.0' } });
  await server.stop();
  assert.match(server.output(), /"level":"warn".*"kind":"no_tls".*TLS_CERT and TLS_KEY.*TRUST_PROXY/);
});
