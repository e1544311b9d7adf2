// Tests disk failures while the database file is created or closed. torture/faults tests disk failures of a running server.
// Requires strace and, for the full disk, the right to mount a small tmpfs. A skipped test reports why.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { post } from '../../../testing/request.ts';
import { addToken, LAUNCHER, makeFolder, query, startServer } from '../../../testing/server.ts';
import { whyNoStrace, withSyncs } from '../../../testing/strace.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import { SORTS } from '../../domain/names.ts';
import { UserError } from '../../lib/user-error.ts';
import { openSqliteStore } from './store.ts';

const noStrace = whyNoStrace();
const needsStrace = noStrace === undefined ? {} : { skip: `SKIPPED: ${noStrace}` };
const canMount =
  process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const needsMount = canMount ? {} : { skip: 'SKIPPED: only root on Linux can mount a small disk' };

test('a failed fsync while the file is created does not block the next attempt', needsStrace, async () => {
  for (let when = 1; when <= 9; when++) {
    const path = join(makeFolder(), 'plants.db');
    const failing = withSyncs(`error=EIO:when=${when}`);
    const [command = '', ...args] = [...failing, process.execPath, LAUNCHER, 'token', 'create', '--name', 'x'];
    const env = { PATH: process.env.PATH, DATABASE_URL: `sqlite:${path}` };
    const { status } = spawnSync(command, args, { env, encoding: 'utf8', timeout: 20_000 });
    await assert.doesNotReject(addToken(env.DATABASE_URL, {}), `fsync ${when} failed`);
    assert.equal(query(path, 'SELECT * FROM tokens').length, status === 0 ? 2 : 1, `fsync ${when}`);
  }
});

test('a failed fsync while a server stops is reported and not retried, and nothing is lost', needsStrace, async () => {
  const folder = makeFolder();
  const trace = join(makeFolder(), 'trace');
  await (await startServer({ folder })).stop(); // creates the file
  const failing = withSyncs('error=EIO:when=1', { file: trace, path: join(folder, 'plants.db') });
  const server = await startServer({ folder, wrapper: failing });
  assert.equal((await post(server, '{"id":1,"name":"Aloe"}')).status, 200);
  assert.equal(await server.stop(), 1, server.output());
  assert.match(server.output(), /"level":"fatal".*"kind":"store_failed".*Cannot copy the WAL/);
  assert.doesNotMatch(server.output(), /"kind":"stopped"/);
  assert.deepEqual(readFileSync(trace, 'utf8').match(/= (-1 EIO|0)/g), ['= -1 EIO'], 'syncs of the database file');
  const restarted = await startServer({ folder });
  assert.deepEqual(query(restarted.databasePath, 'SELECT id FROM plants'), [{ id: 1n }]);
  assert.equal(await restarted.stop(), 0);
});

test('a full disk while the file is created does not block the next attempt', needsMount, async (t) => {
  for (const sizeKib of [16, 36, 48, 60, 68, 76, 84, 92]) {
    const folder = makeFolder();
    assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKib}k`, 'tmpfs', folder]).status, 0);
    t.after(() => spawnSync('umount', ['-l', folder]));
    const databaseUrl = `sqlite:${folder}/plants.db`;
    await addToken(databaseUrl, {}).catch((error) => {
      assert.ok(error instanceof UserError || error instanceof PlantStoreError, `${sizeKib} KiB: ${error}`);
    });
    spawnSync('mount', ['-o', 'remount,size=2m', folder]);
    await assert.doesNotReject(addToken(databaseUrl, {}), `${sizeKib} KiB`);
  }
});

test('lists in every order are read while the disk is full', needsMount, async (t) => {
  const folder = makeFolder();
  assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', folder]).status, 0);
  t.after(() => spawnSync('umount', ['-l', folder]));
  const onFailure = () => assert.fail('the store failed');
  const store = await openSqliteStore({
    path: join(folder, 'plants.db'),
    role: 'server',
    observe: () => {},
    onFailure,
  });
  t.after(store.close);
  let plants = 0;
  const fill = async () => {
    for (const name = 'x'.repeat(2000); ; plants++)
      await store.create({ id: BigInt(plants), name }, { tokenId: 'tok_1' });
  };
  await assert.rejects(fill(), { code: 'unavailable', message: /disk of the database is full/ });
  assert.ok(plants > 100, `${plants} plants are enough for the list to wait for the order by name`);
  for (const sort of SORTS) assert.equal((await store.list({ sort, limit: 1000 })).records.length, plants, sort);
});
