import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
import { SharedCount } from '../../lib/shared-count.ts';
import { openConnection, prepareDatabase } from './database.ts';
import { openExportSnapshot } from './read-snapshot.ts';
import { WalCheckpoint } from './wal-checkpoint.ts';

const PAGES_AT_ONCE = 50;

function openStore() {
  const { path, release } = prepareDatabase(join(makeFolder(), 'plants.db'), 'command');
  release();
  const db = openConnection(path);
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, NULL, 1, 1, ?)');
  let id = 0;
  return {
    db,
    path,
    /** Adds plants whose names fill about one page each. */
    add(count: number): void {
      db.exec('BEGIN');
      for (let n = 0; n < count; n++, id++) insert.run(id, 'x'.repeat(4000), id);
      db.exec('COMMIT');
    },
  };
}

test('A WAL that reaches its limit ends the exports that use it, with the reason, and starts over', async () => {
  const { db, path, add } = openStore();
  const endings = new SharedCount();
  add(10);
  const open = () => openExportSnapshot(path, (query) => query(), endings);
  const [slow, unread] = [open(), open()];
  const plants = slow.plants[Symbol.asyncIterator]();
  await plants.next();
  const checkpoint = new WalCheckpoint(db, () => endings.add(1), 6000);
  const walPages = () => Number(db.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log);
  for (let pages = 0; pages < 6000; pages += PAGES_AT_ONCE) {
    if (pages === 5000) assert.ok((await plants.next()).value, 'the export was ended too soon');
    add(PAGES_AT_ONCE);
    checkpoint.runIfLong();
  }
  await until(() =>
    plants.next().then(
      () => false,
      () => true,
    ),
  ); // its timer runs
  await assert.rejects(
    plants.next(),
    /^PlantStoreError: The server ended the export: it took so long that the WAL reached/,
  );
  await assert.rejects(unread.plants[Symbol.asyncIterator]().next(), { code: 'unavailable' });
  for (let n = 0; n < 2; n++) {
    add(PAGES_AT_ONCE);
    checkpoint.runIfLong();
  }
  assert.ok(walPages() < 1000, `${walPages()} pages after the WAL should have started over`);
  const again = open();
  for await (const { id } of again.plants) if (id === 3n) break;
  db.close();
});
