import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '../../../testing/server.ts';
import { WalCheckpoint } from './wal-checkpoint.ts';

const PAGE_BYTES = 4096;

function openTable(): { db: DatabaseSync; path: string; write(pages: number): void; walPages(): number } {
  const path = join(makeFolder(), 'test.db');
  const db = new DatabaseSync(path, { readBigInts: true, timeout: 5000 });
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE texts (text)');
  const insert = db.prepare('INSERT INTO texts VALUES (randomblob(?))');
  return {
    db,
    path,
    write(pages) {
      db.exec('BEGIN');
      for (let n = 0; n < pages; n++) insert.run(PAGE_BYTES - 100);
      db.exec('COMMIT');
    },
    walPages: () => statSync(`${path}-wal`).size / PAGE_BYTES,
  };
}

test('The WAL stays short although some reader uses it at any time', async () => {
  const { db, path, write, walPages } = openTable();
  const checkpoint = new WalCheckpoint(db);
  // Each of two connections begins a read before the other ends its own.
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { DatabaseSync } = require('node:sqlite');
    const readers = [new DatabaseSync(workerData), new DatabaseSync(workerData)];
    const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    const begin = (reader) => reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema; SELECT rowid FROM texts LIMIT 1');
    let at = 0;
    begin(readers[0]);
    parentPort.postMessage('reading');
    for (;;) {
      at = 1 - at;
      begin(readers[at]);
      sleep();
      readers[1 - at].exec('COMMIT');
    }`;
  const reading = new Worker(code, { eval: true, workerData: path });
  await once(reading, 'message');
  for (let n = 0; n < 200; n++) {
    write(50);
    checkpoint.runIfLong();
  }
  await reading.terminate();
  assert.ok(walPages() < 7000, `${walPages()} of 10,000 pages written`);
  db.close();
});

test('A long read delays few checkpoints, and the WAL starts over after it', () => {
  const { db, path, write, walPages } = openTable();
  const checkpoint = new WalCheckpoint(db);
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM texts');
  let waits = 0;
  for (let n = 0; n < 120; n++) {
    write(50);
    const startMs = performance.now();
    checkpoint.runIfLong();
    if (performance.now() - startMs >= 90) waits++;
  }
  assert.ok(waits >= 1 && waits <= 6, `${waits} waits`);
  const longest = walPages();
  reader.exec('COMMIT');
  for (let n = 0; n < 150; n++) {
    write(50);
    checkpoint.runIfLong();
  }
  assert.ok(walPages() < longest * 1.5, `${walPages()} pages after ${longest}`);
  checkpoint.empty();
  assert.equal(walPages(), 0);
  db.close();
  reader.close();
});
