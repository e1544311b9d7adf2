// Tests of the folder of scheduled backups: names, order, rotation and leftovers.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { newDraftPath } from '../../lib/draft-path.ts';
import { UsageError } from '../../lib/user-error.ts';
import { deleteDrafts, deleteOldest, listBackups, newBackupPath, prepareFolder } from './backup-folder.ts';

const NOON = Date.parse('2026-11-18T12:00:00Z');
/** Files that are not backups of plants.db. */
const OTHERS = [
  'plants.db',
  'plants-old.db',
  'plants-2026-11-18.db',
  'plants-2026-13-18T02-00-00Z.db',
  'plants-2026-11-18T02-00-00Z.db.gz',
  'plants-2-2026-11-18T02-00-00Z.db',
  'trees-2026-11-18T02-00-00Z.db',
  'notes.part',
  'trees-2026-11-18T02-00-00Z.db.part',
  'plants-2026-11-18T02-00-00Z.db.mine.part',
];

function folderWith(...names: string[]): { dir: string; database: string } {
  const dir = makeFolder();
  for (const name of names) writeFileSync(join(dir, name), 'x'.repeat(10));
  return { dir, database: '/data/plants.db' };
}

test('a new backup is named after its database and the time in UTC, and never after an existing file', async () => {
  const folder = folderWith('plants-2026-11-18T12-00-00Z.db', 'plants-2026-11-18T12-00-01Z.db');
  assert.equal(basename(await newBackupPath(folder, NOON + 5000)), 'plants-2026-11-18T12-00-05Z.db');
  assert.equal(basename(await newBackupPath(folder, NOON)), 'plants-2026-11-18T12-00-02Z.db');
});

test('rotation deletes the oldest backups of this database that no server uses, and nothing else', async () => {
  const own = ['02', '05', '11'].map((hour) => `plants-2026-11-18T${hour}-00-00Z.db`);
  const inUse = ['plants-2026-11-18T00-00-00Z.db', 'plants-2026-11-17T00-00-00Z.db'];
  const beside = [`${inUse[0]}.lock`, `${inUse[1]}-wal`];
  const folder = folderWith(...own, ...OTHERS);
  mkdirSync(join(folder.dir, 'plants-2026-11-18T01-00-00Z.db'));
  assert.deepEqual(
    (await listBackups(folder, NOON)).map(({ name, bytes }) => [name, bytes]),
    own.toReversed().map((name) => [name, 10]),
  );
  await deleteOldest(folder, { keep: 3, newFile: join(folder.dir, own[2] ?? ''), nowMs: NOON });
  assert.equal((await listBackups(folder, NOON)).length, 3);
  for (const name of [...inUse, ...beside]) writeFileSync(join(folder.dir, name), 'x');
  await deleteOldest(folder, { keep: 1, newFile: join(folder.dir, own[2] ?? ''), nowMs: NOON });
  const left = [...inUse, ...beside, 'plants-2026-11-18T01-00-00Z.db', 'plants-2026-11-18T11-00-00Z.db', ...OTHERS];
  assert.deepEqual(readdirSync(folder.dir).sort(), left.sort());
});

test('after the clock was set back, rotation keeps the backups that were written last', async () => {
  const folder = folderWith('plants-2026-11-18T20-00-00Z.db', 'plants-2026-11-18T21-00-00Z.db'); // in the future
  const newFile = await newBackupPath(folder, NOON);
  writeFileSync(newFile, '');
  await deleteOldest(folder, { keep: 2, newFile, nowMs: NOON + 1000 });
  assert.deepEqual(
    (await listBackups(folder, NOON + 1000)).map(({ name }) => name),
    ['plants-2026-11-18T12-00-00Z.db', 'plants-2026-11-18T21-00-00Z.db'],
  );
});

test('the drafts of a crash are deleted', async () => {
  const backup = 'plants-2026-11-18T02-00-00Z.db';
  const drafts = [`${backup}.part`, newDraftPath(backup)].flatMap((draft) =>
    ['', '-journal', '-wal', '-shm'].map((end) => draft + end),
  );
  const folder = folderWith(...drafts, ...OTHERS);
  await deleteDrafts(folder);
  assert.deepEqual(readdirSync(folder.dir).sort(), OTHERS.toSorted());
});

test('a missing folder is created for its owner only, and a path that cannot be a folder is rejected', async () => {
  const dir = join(makeFolder(), 'a/b');
  await prepareFolder({ dir, database: 'plants.db' });
  assert.deepEqual(readdirSync(dir), []);
  if (process.platform !== 'win32') assert.equal(statSync(dir).mode & 0o777, 0o700);
  const file = join(dir, 'file');
  writeFileSync(file, '');
  const unusable = process.platform === 'linux' ? ['/proc/x/y'] : [];
  for (const wrong of [file, join(file, 'below'), join(dir, 'x'.repeat(300)), ...unusable]) {
    await assert.rejects(prepareFolder({ dir: wrong, database: 'plants.db' }), (error: UsageError) => {
      assert.ok(error instanceof UsageError);
      assert.match(error.message, / Set BACKUP_DIR or --backup-dir to a folder/);
      return true;
    });
  }
});
