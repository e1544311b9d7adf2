// Tests of the schedule of backups. The tests with processes and failures are in scheduled-backups.long.test.ts.

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { UsageError } from '../lib/user-error.ts';
import { delayUntilDue } from './scheduled-backups.ts';

const HOUR_MS = 3_600_000;

/** Returns the names of the backups and drafts in a folder. */
function backupsIn(dir: string): string[] {
  return readdirSync(dir).filter((name) => name.includes('Z.db'));
}

test('a backup is due one interval after the newest, at once without one, and at once if the newest is from the future', () => {
  assert.equal(delayUntilDue(null, HOUR_MS), 0);
  assert.equal(delayUntilDue(0, HOUR_MS), HOUR_MS);
  assert.equal(delayUntilDue(HOUR_MS / 4, HOUR_MS), (HOUR_MS * 3) / 4);
  assert.equal(delayUntilDue(HOUR_MS * 5, HOUR_MS), 0);
  assert.equal(delayUntilDue(-1, HOUR_MS), 0);
});

test('a server writes a backup at its first start, and none at a restart before the next is due', async () => {
  const [folder, dir] = [makeFolder(), makeFolder()];
  const options = { folder, env: { BACKUP_DIR: dir } };
  const first = await startTestService(options);
  const written = await until(() => first.events.find(({ kind }) => kind === 'backup_written'));
  await until(async () => (await first.store.stats()).lastBackup);
  await first.stop();
  const names = backupsIn(dir);
  assert.deepEqual(
    names.map((name) => join(dir, name)),
    'file' in written ? [written.file] : [],
  );
  writeFileSync(join(dir, `${names[0]}.part`), ''); // as a power cut leaves it
  const second = await startTestService(options);
  const [scheduled] = second.events.filter((event) => event.kind === 'backups_scheduled');
  await second.stop();
  assert.ok(
    scheduled?.lastAgeMs && scheduled.nextInMs > HOUR_MS - 600_000 && scheduled.nextInMs < HOUR_MS,
    JSON.stringify(scheduled),
  );
  assert.deepEqual(backupsIn(dir), names);
});

test('a server does not start, and creates no store, if it cannot write to the folder', async () => {
  const [folder, file] = [makeFolder(), join(makeFolder(), 'file')];
  writeFileSync(file, '');
  await assert.rejects(startTestService({ folder, env: { BACKUP_DIR: file } }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.equal(error.message, `${file} is not a folder. Set BACKUP_DIR or --backup-dir to a folder.`);
    return true;
  });
  assert.deepEqual(readdirSync(folder), []);
});

test('a server does not start, and creates no store, if the folder has the backups of another store', async () => {
  const [folder, other, dir] = [makeFolder(), makeFolder(), makeFolder()];
  const env = { BACKUP_DIR: dir };
  const service = await startTestService({ folder, env });
  await assert.rejects(startTestService({ folder: other, env }), (error) => {
    assert.ok(error instanceof UsageError);
    assert.match(
      error.message,
      /has the backups of another store, .*plants\.db\. Use one folder per store\. .* delete /,
    );
    return true;
  });
  assert.deepEqual(readdirSync(other), []);
  await service.stop();
});
