// Scheduled backups under writes, failures and kills. Those that end a process use a real one.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { besideServer, LAUNCHER, makeFolder, query, startServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import type { BackupSchedule } from '../config/backup-config.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import { claimFolder } from '../storage/sqlite/backup-folder.ts';
import { openStore } from './open-store.ts';
import { ScheduledBackups } from './scheduled-backups.ts';

const BY = { tokenId: 'cli' };
const SILENT = { observe() {}, onFailure() {} };
const EVERY_MS = 100;

function manyPlants(count: number): { id: bigint; name: string }[] {
  return Array.from({ length: count }, (_, n) => ({ id: BigInt(n), name: `Plant ${n} ${'x'.repeat(200)}` }));
}

/** Returns the names of the backups and drafts in a folder. */
function backupsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.includes('Z.db'));
}

/** True if a draft with content exists. */
function hasDraft(dir: string): boolean {
  return backupsIn(dir).some(
    (name) => name.endsWith('.part') && (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0) > 0,
  );
}

/** Stops the process of a backup while it writes a draft, and returns its id. A backup that is faster is followed by another. */
async function stopBackup(dir: string): Promise<number> {
  return until(() => {
    if (!hasDraft(dir)) return undefined;
    const pid = Number(spawnSync('pgrep', ['-f', `backup-process.* ${dir}/`], { encoding: 'utf8' }).stdout.trim());
    if (!(pid > 0 && existsSync(`/proc/${pid}`))) return undefined;
    process.kill(pid, 'SIGSTOP');
    if (hasDraft(dir)) return pid;
    process.kill(pid, 'SIGCONT');
    return undefined;
  });
}

type EventOf<K extends ServiceEvent['kind']> = Extract<ServiceEvent, { kind: K }>;

/** Opens a store as a server does, and backs it up every 100 ms. */
async function startBackups(
  t: TestContext,
  options: Partial<BackupSchedule> & { plants?: number; stallMs?: number } = {},
) {
  const { dir = makeFolder(), keep = 3, plants = 0, stallMs } = options;
  const path = join(makeFolder(), 'plants.db');
  const store = await openStore({ kind: 'sqlite', path }, { role: 'server', ...SILENT });
  const events: ServiceEvent[] = [];
  const backups = await ScheduledBackups.open({
    schedule: { dir, everyMs: EVERY_MS, keep },
    database: path,
    observe: (event) => events.push(event),
    clock: () => Date.now() + performance.now() * 20, // no two backups start in the same second
    stallMs,
  });
  if (plants > 0) await store.import(manyPlants(plants), BY);
  t.after(async () => {
    await backups.stop();
    await store.close();
  });
  const eventsOf = <K extends ServiceEvent['kind']>(kind: K) =>
    events.filter((event) => event.kind === kind) as EventOf<K>[];
  return { path, dir, store, backups, eventsOf };
}

/** Restores a backup into a new folder. Returns the path of the restored store. */
async function restore(file: string): Promise<string> {
  const path = join(makeFolder(), 'plants.db');
  const { status, stderr } = await runInProcess(['restore', file], { env: { DATABASE_URL: `sqlite:${path}` } });
  assert.equal(status, 0, stderr);
  return path;
}

function plantIds(path: string): bigint[] {
  return query(path, 'SELECT id FROM plants ORDER BY id').map(({ id }) => id as bigint);
}

test('each kept backup has exactly the plants that were acknowledged before it, and perhaps later ones', async (t) => {
  const { dir, store, backups, eventsOf } = await startBackups(t);
  /** Number of plants that each backup has at most. */
  const most = new Map<string, bigint>();
  let acknowledged = 0n;
  let isDone = false;
  const writing = (async () => {
    for (; !isDone; acknowledged++) {
      await store.create({ id: acknowledged, name: `Plant ${acknowledged}` }, BY);
      for (const { file } of eventsOf('backup_written')) if (!most.has(file)) most.set(file, acknowledged + 1n);
    }
  })();
  await until(() => acknowledged >= 100n);
  const atLeast = acknowledged;
  backups.start();
  await until(() => eventsOf('backup_written').length >= 6);
  isDone = true;
  await writing;
  await backups.stop();
  assert.deepEqual(eventsOf('backup_failed'), []);
  const names = backupsIn(dir).sort();
  assert.equal(names.length, 3);
  assert.deepEqual(
    names,
    eventsOf('backup_written')
      .slice(-3)
      .map(({ file }) => file.slice(dir.length + 1)),
  );
  let before = atLeast;
  for (const name of names) {
    const ids = plantIds(await restore(join(dir, name)));
    const atMost = most.get(join(dir, name)) ?? acknowledged;
    assert.deepEqual(
      ids,
      Array.from(ids, (_, at) => BigInt(at)),
      'no gap',
    );
    assert.ok(BigInt(ids.length) >= before && BigInt(ids.length) <= atMost, `${before} <= ${ids.length} <= ${atMost}`);
    before = BigInt(ids.length);
  }
});

test('if the folder disappears, backups fail until it is back, and writes continue', async (t) => {
  const { dir, store, backups, eventsOf } = await startBackups(t);
  backups.start();
  await until(() => eventsOf('backup_written').length >= 1);
  renameSync(dir, `${dir}-gone`);
  const { reason, lastAgeMs } = await until(() => eventsOf('backup_failed')[0]);
  assert.match(reason, /ENOENT|unable to open/);
  assert.ok(lastAgeMs !== null && lastAgeMs >= 0);
  await store.create({ id: 1n, name: 'x' }, BY);
  const good = eventsOf('backup_written').length;
  renameSync(`${dir}-gone`, dir);
  await until(() => eventsOf('backup_written').length > good);
});

test('on a full disk, backups fail without a leftover and keep the old ones', async (t) => {
  const disk = makeFolder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=400k', 'tmpfs', disk]);
  if (mounted.status !== 0) return t.skip('SKIPPED: needs the right to mount a disk');
  t.after(() => spawnSync('umount', ['-l', disk]));
  const { store, backups, eventsOf } = await startBackups(t, { dir: disk, keep: 1 });
  backups.start();
  await until(() => eventsOf('backup_written').length >= 1);
  await store.import(
    Array.from({ length: 3000 }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}` })),
    BY,
  );
  const { reason } = await until(() => eventsOf('backup_failed')[0]);
  assert.match(reason, /full|ENOSPC/);
  await backups.stop();
  await store.create({ id: -1n, name: 'x' }, BY);
  const [name = '', ...more] = backupsIn(disk);
  assert.deepEqual([join(disk, name), more], [eventsOf('backup_written').at(-1)?.file, []]);
  assert.deepEqual(plantIds(await restore(join(disk, name))), []);
});

test('a copy in which a plant differs from its last change is no backup', async (t) => {
  const { path, dir, store, backups, eventsOf } = await startBackups(t);
  await store.create({ id: 1n, name: 'x' }, BY);
  const db = new DatabaseSync(path);
  db.exec(`UPDATE changes SET name = 'y'`);
  db.close();
  backups.start();
  const { reason, lastAgeMs } = await until(() => eventsOf('backup_failed')[0]);
  await backups.stop();
  assert.match(reason, /the copy is damaged \(plant 1 differs from its last change\)/);
  assert.deepEqual([lastAgeMs, backupsIn(dir)], [null, []]);
});

test('if the process of a backup is killed, the backup fails without a leftover', async (t) => {
  const { dir, backups, eventsOf } = await startBackups(t, { plants: 20_000 });
  backups.start();
  process.kill(await stopBackup(dir), 'SIGKILL');
  const { reason } = await until(() => eventsOf('backup_failed')[0]);
  assert.match(reason, /Cannot write .*: its process ended with SIGKILL$/);
  await until(() => eventsOf('backup_written')[0]);
  await backups.stop();
  assert.ok(backupsIn(dir).length > 0 && backupsIn(dir).every((name) => name.endsWith('.db')), `${backupsIn(dir)}`);
});

test('a backup that stalls fails and is tried again', async (t) => {
  const { dir, backups, eventsOf } = await startBackups(t, { plants: 20_000, stallMs: 1000 });
  backups.start();
  await stopBackup(dir);
  const { reason } = await until(() => eventsOf('backup_failed')[0]);
  assert.match(reason, /Cannot write .*: no progress for \d+s$/);
  await until(() => eventsOf('backup_written')[0]);
  await backups.stop();
  assert.ok(
    backupsIn(dir).every((name) => name.endsWith('.db')),
    `${backupsIn(dir)}`,
  );
});

test('a disk that does not respond delays a stop by about a second, and is reported', async (t) => {
  const [folder, disk] = [makeFolder(), makeFolder()];
  const image = join(folder, 'disk');
  const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  const isMounted =
    run('truncate', '-s', '64M', image) && run('mkfs.ext4', '-q', image) && run('mount', '-o', 'loop', image, disk);
  if (!isMounted) return t.skip('SKIPPED: needs the right to mount a disk');
  t.after(() => {
    run('fsfreeze', '-u', disk);
    run('umount', '-l', disk);
  });
  const { backups, eventsOf } = await startBackups(t, { dir: disk, plants: 20_000, stallMs: 1000 });
  backups.start();
  await until(() => hasDraft(disk));
  assert.ok(run('fsfreeze', '-f', disk));
  const reasons = await until(() => eventsOf('backup_failed').length >= 2 && eventsOf('backup_failed'));
  assert.match(reasons[0]?.reason ?? '', /no progress for \d+s$/);
  assert.match(reasons[1]?.reason ?? '', /The previous backup has not ended/);
  const startMs = performance.now();
  await backups.stop();
  const durationMs = performance.now() - startMs;
  assert.ok(durationMs < 2000, `${durationMs} ms`);
});

test('the backups of two servers never share a folder, also if their stores have the same path', async (t) => {
  const { path, dir, backups } = await startBackups(t);
  const folder = { dir, database: path };
  assert.throws(() => claimFolder(folder), /is in use for the backups of another store\. Use one folder per store\.$/);
  await backups.stop();
  claimFolder(folder).release();
  assert.throws(() => claimFolder({ dir, database: '/other/plants.db' }), /has the backups of another store/);
});

test('a backup that a kill left without a note is noted at the next start', async (t) => {
  const { path, dir, store, backups } = await startBackups(t);
  await backups.stop();
  await runInProcess(['backup', join(dir, 'plants-2026-01-02T00-00-00Z.db')], {
    env: { DATABASE_URL: `sqlite:${path}` },
  });
  rmSync(`${path}.last-backup`);
  const next = await ScheduledBackups.open({ schedule: { dir, everyMs: 1e9, keep: 1 }, database: path, observe() {} });
  await next.stop();
  assert.equal((await store.stats()).lastBackup?.timeMs, Date.parse('2026-01-02T00:00:00Z'));
});

test('the service log adds advice to a failure only if the failure has none', () => {
  const reasons = [
    'Cannot write x: it is full',
    'the copy is damaged (x). The store may be damaged too: check its disk.',
  ];
  const program = `
    import { createLog } from ${JSON.stringify(new URL('../observability/log.ts', import.meta.url).href)};
    const log = createLog('info', 'plant-store');
    for (const reason of ${JSON.stringify(reasons)}) log({ kind: 'backup_failed', reason, lastAgeMs: null, nextInMs: 300_000 });`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  const end = 'Next attempt in 5m. The folder has no good backup yet.';
  assert.deepEqual(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
    [
      `Backup failed: ${reasons[0]}. Check the folder and its free space. ${end}`,
      `Backup failed: ${reasons[1]} ${end}`,
    ],
  );
});

test('a relative folder with a name of one letter is created in the working directory', async () => {
  const folder = makeFolder();
  const env = { PATH: process.env.PATH, PORT: '0', BACKUP_DIR: 'b', BACKUP_EVERY: '10s' };
  const server = spawn(process.execPath, [LAUNCHER, 'serve'], { cwd: folder, env });
  try {
    await until(
      () => existsSync(join(folder, 'b')) && backupsIn(join(folder, 'b')).some((name) => name.endsWith('.db')),
    );
  } finally {
    server.kill('SIGKILL');
  }
});

/** Starts a server on a large store whose first backup is due, and waits until that backup has a draft. */
async function startWithDraft(size: number) {
  const [folder, dir] = [makeFolder(), makeFolder()];
  const old = 'plants-2026-01-01T00-00-00Z.db';
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`;
  const plants = manyPlants(size);
  await besideServer(databaseUrl, (store) => store.import(plants.slice(0, 10), BY));
  await runInProcess(['backup', join(dir, old)], { env: { DATABASE_URL: databaseUrl } });
  await besideServer(databaseUrl, (store) => store.import(plants, BY));
  const env = { BACKUP_DIR: dir, BACKUP_KEEP: '1' };
  const server = await startServer({ folder, env });
  const drafts = () => backupsIn(dir).filter((name) => name.includes('.part'));
  await until(() => drafts().some((name) => (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0) > 0));
  return { folder, dir, env, old, server, drafts };
}

test('SIGTERM during a backup stops the server within its limit and leaves no draft', async () => {
  const { dir, old, server, drafts } = await startWithDraft(50_000);
  const startMs = performance.now();
  assert.equal(await server.stop(), 0);
  const durationMs = performance.now() - startMs;
  assert.ok(durationMs < 3000, `${durationMs} ms`);
  assert.deepEqual([drafts(), server.output().includes('backup_failed')], [[], false]);
  assert.equal(server.output().includes('backup_written'), false, 'the stop came too late to interrupt the backup');
  assert.deepEqual(backupsIn(dir), [old]);
  assert.equal(statSync(`${server.databasePath}-wal`, { throwIfNoEntry: false }), undefined, 'a clean stop');
});

test('after kill -9 during a backup the old one is good, and the next start leaves only complete ones', async () => {
  const { folder, dir, env, old, server, drafts } = await startWithDraft(50_000);
  server.process.kill('SIGKILL');
  assert.equal(plantIds(await restore(join(dir, old))).length, 10);
  await until(() => drafts().length === 0); // the process of the backup ends with the server
  writeFileSync(join(dir, 'plants-2026-01-02T00-00-00Z.db.part'), 'as a power cut leaves it');
  const next = await startServer({ folder, env });
  await until(() => next.output().includes('backup_written') && backupsIn(dir).length === 1);
  assert.equal(await next.stop(), 0);
  const [name = ''] = backupsIn(dir);
  assert.notEqual(name, old);
  assert.equal(plantIds(await restore(join(dir, name))).length, 50_000);
  rmSync(dir, { recursive: true });
});
