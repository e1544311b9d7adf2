// Tests that the TLS options in the URL have the same meaning as in other PostgreSQL clients.

import assert from 'node:assert/strict';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { makeCertificate, needsOpenssl } from '../../../testing/certificate.ts';
import {
  needsPostgres,
  openPostgres,
  startPostgres,
  type TestPostgres,
  UNPRIVILEGED,
} from '../../../testing/postgres.ts';
import { makeFolder } from '../../../testing/server.ts';

suite('a PostgreSQL that accepts only TLS', { ...needsPostgres, ...needsOpenssl }, () => {
  const folder = makeFolder();
  const certificate = join(folder, 'server.crt');
  let postgres: TestPostgres;

  before(async () => {
    makeCertificate(folder, 'IP:127.0.0.1');
    postgres = await startPostgres();
    await postgres.stop();
    const data = join(postgres.folder, 'data');
    for (const file of ['server.crt', 'server.key']) {
      writeFileSync(join(data, file), readFileSync(join(folder, file)));
      chmodSync(join(data, file), 0o600);
      if (process.getuid?.() === 0) chownSync(join(data, file), UNPRIVILEGED, UNPRIVILEGED);
    }
    writeFileSync(join(data, 'postgresql.auto.conf'), 'ssl = on\n');
    writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 trust\n');
    await postgres.start();
  });
  after(() => postgres.remove());

  for (const [options, isAccepted] of [
    ['sslmode=require', true],
    ['sslmode=verify-full&sslrootcert=CERTIFICATE', true],
    ['sslmode=verify-ca&sslrootcert=CERTIFICATE', true],
    ['sslmode=disable', false],
    ['', false],
    ['sslmode=verify-full', false],
    ['sslmode=verify-full&sslrootcert=/nowhere.crt', false],
  ] as const) {
    test(`${options || 'a URL without options'} ${isAccepted ? 'connects' : 'fails with an error of one line'}`, async () => {
      const opened = openPostgres(`${postgres.url}?${options.replace('CERTIFICATE', certificate)}`);
      if (!isAccepted) {
        await assert.rejects(opened, /^UserError: Cannot (reach|use) postgres:\/\/127\.0\.0\.1:\d+\/postgres: \S.*$/);
        return;
      }
      const store = await opened;
      assert.equal(typeof (await store.create({ id: 1n, name: 'Ficus' }, { tokenId: 'tok_1' })).seq, 'number');
      const { plants } = await store.export();
      for await (const { name } of plants) assert.equal(name, 'Ficus');
      await store.close();
    });
  }
});
