// Tests of the commands backup, restore and changes prune.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { besideServer, makeFolder, query } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { createClient } from '../client/client.ts';

/** Runs a command on the database in a folder. */
function run(folder: string, ...args: string[]): Promise<Run> {
  return runInProcess(args, { env: { DATABASE_URL: `sqlite:${folder}/plants.db` } });
}

function addPlants(folder: string, count: number) {
  const plants = Array.from({ length: count }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}` }));
  return besideServer(`sqlite:${folder}/plants.db`, (store) => store.import(plants, { tokenId: 'cli' }));
}

test('backup copies a store in use consistently, and restore recreates it with new change numbers', async () => {
  const [used, folder] = [makeFolder(), makeFolder()];
  const service = await startTestService({ folder: used });
  const client = createClient({ url: service.url, token: service.secret });
  let stop = false;
  let id = 0n;
  const writing = (async () => {
    for (; !stop; id++) await client.create({ id, name: `Été ${id}`, tag: 'Tree' });
    return id;
  })();
  await until(() => id >= 10n);
  const backup = join(folder, 'backup.db');
  const { status, stdout } = await run(used, 'backup', backup);
  assert.equal(status, 0);
  assert.equal(JSON.parse(stdout).bytes, statSync(backup).size);
  const again = await run(used, 'backup', backup);
  assert.deepEqual(
    [again.status, again.stderr],
    [1, `plant-store: ${backup} already exists. A backup never overwrites a file. Choose another name.\n`],
  );
  const enough = id + 10n;
  await until(() => id >= enough);
  stop = true;
  const written = await writing;
  const running = await run(used, 'restore', backup);
  assert.deepEqual([running.status, /A server is using/.test(running.stderr)], [1, true]);
  const lastSeq = (await client.get(written - 1n)).seq;
  await service.stop();
  const present = await run(used, 'restore', backup);
  assert.match(present.stderr, /plants\.db (already exists|is there already).*move it away/i);

  assert.equal((await run(folder, 'restore', backup)).status, 0);
  assert.deepEqual(readdirSync(folder).sort(), ['backup.db', 'plants.db', 'plants.db.lock']);
  if (process.platform !== 'win32') assert.equal(statSync(join(folder, 'plants.db')).mode & 0o777, 0o600);
  const restored = await startTestService({ folder });
  const other = createClient({ url: restored.url, token: service.secret, retries: 0 });
  const { plants } = await other.export();
  const copied = await Array.fromAsync(plants);
  assert.ok(copied.length > 0 && BigInt(copied.length) < written, `${copied.length} of ${written}`);
  assert.deepEqual(
    copied,
    copied.map((_, n) => ({ id: BigInt(n), name: `Été ${n}`, tag: 'Tree' })),
  );
  assert.equal((await other.list({ q: 'ete 5', tag: 'Tree', limit: 1 })).records[0]?.id, 5n);
  const { seq } = await other.create({ id: -1n, name: 'after' });
  assert.ok(seq > lastSeq, `${seq} after ${lastSeq}`);
  await assert.rejects(other.changes({ after: lastSeq }), { code: 'changes_pruned' });
  assert.deepEqual(
    (await other.changes({ after: seq - 1 })).map((change) => change.seq),
    [seq],
  );
  await restored.stop();
});

test('a backup of an idle store can be restored immediately, and the change log continues', async () => {
  const folder = makeFolder();
  const backup = join(folder, 'backup.db');
  await addPlants(folder, 10);
  assert.equal((await run(folder, 'backup', backup)).status, 0);
  renameSync(join(folder, 'plants.db'), join(folder, 'old.db'));
  const restored = await run(folder, 'restore', backup);
  assert.equal(restored.status, 0, restored.stderr);
  assert.match(restored.stderr, /tokens are those of the backup/);
  const service = await startTestService({ folder });
  const client = createClient({ url: service.url, token: service.secret });
  const { seq } = await client.create({ id: 100n, name: 'new' });
  const pages = [
    await client.changes({ limit: 3 }),
    await client.changes({ after: 3, limit: 7 }),
    await client.changes({ after: 10 }),
  ];
  assert.deepEqual(
    pages.flat().map((change) => change.seq),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, seq],
  );
  assert.equal((await client.export()).seq, seq);
  await assert.rejects(client.changes({ after: 11 }), { code: 'changes_pruned' });
  await service.stop();
});

test('two backups to one file do not disturb each other, nor files of the user', async () => {
  const folder = makeFolder();
  await addPlants(folder, 1000);
  const backup = join(makeFolder(), 'backup.db');
  const own = [`${backup}.part`, `${folder}/plants.db.last-backup.part`];
  for (const file of own) writeFileSync(file, 'mine');
  const both = await Promise.all([run(folder, 'backup', backup), run(folder, 'backup', backup)]);
  const [first, second] = both.toSorted((a, b) => Number(a.status) - Number(b.status));
  assert.deepEqual([first?.status, first?.stderr], [0, '']);
  assert.deepEqual([second?.status, second?.stderr], [1, `plant-store: Cannot write ${backup}: it already exists\n`]);
  assert.deepEqual(query(backup, 'SELECT count(*) AS plants FROM plants'), [{ plants: 1000n }]);
  for (const file of own) assert.equal(readFileSync(file, 'utf8'), 'mine');
  assert.deepEqual(readdirSync(join(backup, '..')).sort(), ['backup.db', 'backup.db.part']);
});

test('a backup of schema version 1 is also restored with new change numbers', async () => {
  const folder = makeFolder();
  const backup = join(folder, 'backup.db');
  const old = new DatabaseSync(backup);
  old.exec(
    readFileSync(join(import.meta.dirname, '../storage/sqlite/migrations/0001_plants_changes_tokens.sql'), 'utf8'),
  );
  old.exec(`PRAGMA user_version = 1;
    INSERT INTO plants VALUES (1, 'Été', NULL, 1, 1, 1);
    INSERT INTO changes VALUES (1, 'plant.created', 1, 1, 'Été', NULL, 'tok_1')`);
  old.close();
  assert.equal((await run(folder, 'restore', backup)).status, 0);
  const { store, stop } = await startTestService({ folder });
  assert.equal((await store.list({ q: 'ete' })).records.length, 1);
  assert.ok((await store.create({ id: 2n, name: 'x' }, { tokenId: 'cli' })).seq > 1_000_000);
  await stop();
});

test('restore rejects a file that is not a backup', async () => {
  const folder = makeFolder();
  const [text, other] = [join(folder, 'text.db'), join(folder, 'other.db')];
  writeFileSync(text, 'no database at all'.repeat(100));
  assert.match((await run(folder, 'restore', text)).stderr, /^plant-store: .*damaged/);
  for (const [name, content] of [
    ['plants.csv', 'id,name\n1,Ficus\n'],
    ['plants.ndjson', '{"id":1,"name":"Ficus"}\n'],
    ['plants.txt', '\ufeff{"id":1,"name":"Ficus"}\n'],
  ] as const) {
    const file = join(folder, name);
    writeFileSync(file, content);
    const { status, stderr } = await run(folder, 'restore', file);
    assert.equal(status, 1);
    assert.match(
      stderr,
      / is a file of plants, not a backup\. Store its plants with ".*plant-store.* import \S+"\.\n$/,
    );
  }
  const db = new DatabaseSync(other);
  db.exec('CREATE TABLE x (y)');
  db.close();
  assert.match((await run(folder, 'restore', other)).stderr, /is not a Plant Store database/);
  assert.equal(existsSync(join(folder, 'plants.db')), false);
});

test('prune removes the oldest changes and keeps the records', async () => {
  const folder = makeFolder();
  await addPlants(folder, 12_000);
  const path = join(folder, 'plants.db');
  assert.equal((await run(folder, 'changes', 'prune', '--older-than', '90d')).stdout, '{"pruned":0}\n');
  const db = new DatabaseSync(path);
  db.exec(`UPDATE changes SET time = time - 91 * 86400000 WHERE seq <= 11000`);
  db.close();
  assert.equal((await run(folder, 'changes', 'prune', '--older-than', '90d')).stdout, '{"pruned":11000}\n');
  assert.deepEqual(query(path, 'SELECT min(seq) AS first, (SELECT count(*) FROM plants) AS plants FROM changes'), [
    { first: 11_001n, plants: 12_000n },
  ]);
});
