// Tests of the command doctor on stores in the states that people meet.

import assert from 'node:assert/strict';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, test } from 'node:test';
import { type InProcessOptions, runInProcess } from '../../testing/command-line.ts';
import { freePort } from '../../testing/free-port.ts';
import { makeDatabase, makeEmptyDatabase, needsPostgres } from '../../testing/postgres.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { noteBackup } from '../storage/sqlite/last-backup.ts';
import type { CheckResult } from './doctor/finding.ts';

/** Folder with a store that was stopped cleanly, and one with a copy of its files while a server used them. */
let [stopped, crashed] = ['', ''];

before(async () => {
  const service = await startTestService();
  await service.store.create({ id: 1n, name: 'Monstera' }, { tokenId: 'cli' });
  stopped = join(service.databasePath, '..');
  crashed = makeFolder();
  for (const name of readdirSync(stopped)) copyFileSync(join(stopped, name), join(crashed, name));
  await service.stop();
});

/** Runs doctor piped. Returns its exit status, its results by check, and those that are neither ok nor about the disk. */
async function examine(databaseUrl: string, env: Record<string, string> = {}, ...args: string[]) {
  const run = await runInProcess(['doctor', ...args], { env: { DATABASE_URL: databaseUrl, PORT: '0', ...env } });
  assert.equal(run.stderr, '');
  const results: CheckResult[] = run.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
  const bad = results.filter(({ status, check }) => status !== 'ok' && check !== 'disk' && check !== 'open files');
  for (const { status, check, advice = '' } of results) assert.equal(status === 'ok', advice === '', check);
  const found = Object.fromEntries(results.map((result) => [result.check, `${result.status}: ${result.found}`]));
  return { status: run.status, found, results, bad: bad.map(({ check, status }) => `${check}: ${status}`) };
}

/** Returns names, sizes and times of all files of a folder. */
function list(folder: string): string[] {
  return [...readdirSync(folder), '.'].map((name) => {
    const { size, mtimeMs, mode, uid, ino } = statSync(join(folder, name));
    return [name, size, mtimeMs, mode, uid, ino].join(' ');
  });
}

test('doctor finds no problem in a store after a clean stop or a crash, and changes no file', async () => {
  noteBackup(join(stopped, 'plants.db'), { timeMs: Date.now() - 9 * 86_400_000, bytes: 1000 });
  assert.ok(readdirSync(crashed).includes('plants.db-shm'));
  for (const [folder, wal] of [
    [stopped, 'ok: empty'],
    [crashed, /^ok: .* sound; the next start copies it into the database$/],
  ] as const) {
    const files = list(folder);
    const { status, found, bad } = await examine(`sqlite:${folder}/plants.db`);
    assert.deepEqual(list(folder), files);
    assert.deepEqual([status, bad], [0, ['backup: warning', 'server: skipped']]);
    assert.match(found.database ?? '', new RegExp(`^ok: ${folder}/plants.db, \\d+ KiB$`));
    assert.match(found.content ?? '', /^ok: every page is sound/);
    assert.match(
      found.backup ?? '',
      folder === stopped ? /^warning: the last one is 9d old/ : /^warning: the store has no backup$/,
    );
    if (typeof wal === 'string') assert.equal(found.WAL, wal);
    else assert.match(found.WAL ?? '', wal);
  }
});

test('doctor recognises the server that uses the store, and a server that does not', async () => {
  const { url, databaseUrl, addToken } = await startTestService();
  const { secret } = await addToken({ scopes: ['admin'] });
  const env = { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: secret };
  const own = await examine(databaseUrl, env);
  assert.deepEqual([own.status, own.bad], [0, ['backup: warning']]);
  assert.match(own.found.server ?? '', /^ok: http:\/\/127.* can store plants, version \d+\.\d+\.\d+$/);
  const other = await examine(`sqlite:${stopped}/plants.db`, env);
  assert.match(other.found.server ?? '', /^warning: the server at .* uses another database$/);
  const elsewhere = await examine(databaseUrl, { PORT: String(await freePort()) });
  assert.match(elsewhere.found.server ?? '', /^warning: a server is using the database, but none responds at/);
});

test('doctor says that no store is there, and creates none', async () => {
  const folder = makeFolder();
  const { status, found } = await examine(`sqlite:${folder}/data/plants.db`);
  assert.deepEqual([status, found.database], [1, `problem: no database at ${folder}/data/plants.db`]);
  assert.deepEqual(readdirSync(folder), []);
  const { results } = await examine(`sqlite:${folder}/${'x'.repeat(300)}`);
  const long = results.find(({ check }) => check === 'database');
  assert.deepEqual([long?.status, long?.advice], ['problem', 'Use a shorter path.']);
});

test('doctor checks the scheduled backups if BACKUP_DIR is set', async () => {
  const backups = join(makeFolder(), 'backups');
  const url = `sqlite:${stopped}/plants.db`;
  const env = { BACKUP_DIR: backups, BACKUP_EVERY: '1h' };
  const missing = await examine(url, env);
  assert.deepEqual(
    [missing.status, missing.found.backup?.includes(`${backups} of BACKUP_DIR does not exist`)],
    [1, true],
  );
  assert.equal(missing.found['backup disk'], undefined);
  mkdirSync(backups);
  const none = await examine(url, env);
  assert.deepEqual([none.status, none.found.backup], [0, `warning: ${backups} has no scheduled backup of plants.db`]);
  assert.match(none.found['backup disk'] ?? '', / free on the disk of .*\/backups$/);
  for (const [hours, found] of [
    [3, /^warning: the newest scheduled one is 3h old \(\d{4}-\d\d-\d\d \d\d:\d\dZ\), with one due every 60m$/],
    [1, /^ok: the newest scheduled one is from \d{4}-\d\d-\d\d \d\d:\d\dZ, \d+ KiB$/],
  ] as const) {
    const time = new Date(Date.now() - hours * 3_600_000 - 60_000).toISOString().slice(0, 19).replaceAll(':', '-');
    copyFileSync(join(stopped, 'plants.db'), join(backups, `plants-${time}Z.db`));
    assert.match((await examine(url, env)).found.backup ?? '', found);
  }
  const file = await examine(url, { BACKUP_DIR: join(stopped, 'plants.db') });
  assert.match(file.found.backup ?? '', /^problem: this user cannot write to the folder .* \(ENOTDIR\)$/);
});

test('doctor reports files that others can read, another file, and a newer or damaged store', async () => {
  const folder = makeFolder();
  const path = join(folder, 'plants.db');
  copyFileSync(join(stopped, 'plants.db'), path);
  chmodSync(folder, 0o755);
  chmodSync(path, 0o644);
  const open = await examine(`sqlite:${path}`);
  assert.deepEqual([open.status, open.found.privacy?.startsWith('warning: other users can read plants.db')], [0, true]);
  assert.equal(open.results.find(({ check }) => check === 'privacy')?.advice, `Run "chmod o= ${path}".`);

  const db = new DatabaseSync(path);
  const own = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.exec(`UPDATE plants SET name = 'Other'; PRAGMA user_version = 99`);
  db.close();
  const newer = await examine(`sqlite:${path}`);
  assert.deepEqual([newer.status, newer.found.schema?.includes('(schema 99')], [1, true]);

  const older = new DatabaseSync(path);
  older.exec(`PRAGMA user_version = ${own.user_version}; CREATE VIEW spy AS SELECT * FROM tokens`);
  older.close();
  const odd = await examine(`sqlite:${path}`);
  assert.equal(odd.found.schema, `problem: the schema of ${path} has a foreign view "spy"`);
  assert.match(odd.found.content ?? '', /^problem: .* is damaged \(plant 1 differs from its last change\)$/);

  writeFileSync(path, 'no database at all'.repeat(100));
  const text = await examine(`sqlite:${path}`);
  assert.match(text.found.database ?? '', /^problem: .* is not a database/);
  assert.deepEqual([text.found.access, text.found.privacy], ['ok: this user can read the file', undefined]);
});

test('doctor fits a terminal of 80 or 40 columns and sums up', async () => {
  const env = { DATABASE_URL: 'sqlite:no/store.db', PORT: '0', HOST: '0.0.0.0', NO_COLOR: '1' };
  const run = await runInProcess(['doctor'], { env, columns: 80 } satisfies InProcessOptions);
  const lines = run.stdout.split('\n');
  assert.match(lines[0] ?? '', /^✓ version {6}plant-store \d/);
  assert.ok(
    lines.every((line) => line.length <= 80 || !line.trim().includes(' ')),
    run.stdout,
  );
  assert.match(run.stdout, /^! network {6}warning: on 0\.0\.0\.0:0, tokens cross the network/m);
  assert.match(run.stdout, /^✗ database {5}problem: no database at\n? /m);
  assert.match(lines.at(-2) ?? '', /^1 problem, \d warnings?\.$/);
  assert.equal(run.status, 1);
  const narrow = await runInProcess(['doctor'], { env, columns: 40 });
  for (const line of narrow.stdout.split('\n')) assert.ok(line.length <= 40 || !line.trim().includes(' '), line);
  assert.match(narrow.stdout, /^✗ database\n {2}problem: no database at(?:\n {2}| )\//m);
});

test('doctor rejects wrong options and settings before it checks anything', async () => {
  for (const [args, env, message] of [
    [['--fast'], {}, /Unknown option '--fast'/],
    [['--url', 'x'], {}, /--url must be the URL of a server/],
    [[], { DATABASE_URL: 'mysql://x' }, /DATABASE_URL must be/],
  ] as const) {
    const run = await runInProcess(['doctor', ...args], { env });
    assert.deepEqual([run.status, run.stdout], [2, '']);
    assert.match(run.stderr, message);
  }
});

test('doctor checks a PostgreSQL database and what keeps nodes from using it', needsPostgres, async () => {
  const url = await makeDatabase();
  const { status, found, bad } = await examine(url);
  // The server of the tests has no standby, and runs without full_page_writes.
  assert.deepEqual([status, bad], [0, ['durability: warning', 'replication: warning', 'server: skipped']]);
  assert.match(found.database ?? '', /^ok: postgres:\/\/127\.0\.0\.1:\d+\/test_\w+, PostgreSQL \d+/);
  assert.match(found.schema ?? '', /^ok: version \d+, current$/);
  assert.match(found.clock ?? '', /as in PostgreSQL$/);

  const empty = await examine(await makeEmptyDatabase());
  assert.equal(empty.found.schema, 'warning: the database has no tables of Plant Store');
  const missing = await examine(url.replace(/[^/]+$/, 'nothing_here'));
  assert.match(missing.found.database ?? '', /^problem: cannot use .*: database "nothing_here" does not exist$/);
  const secret = await examine(`postgres://me:hidden@127.0.0.1:${await freePort()}/plants`);
  assert.equal(secret.status, 1);
  assert.match(secret.found.database ?? '', /^problem: cannot reach .*ECONNREFUSED/);
  assert.doesNotMatch(JSON.stringify(secret.results), /hidden/);
});
