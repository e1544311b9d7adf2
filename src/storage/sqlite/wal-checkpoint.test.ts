import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '../../../testing/server.ts';
import { until } from '../../../testing/until.ts';
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

/** Starts a thread in which some read is always in progress. Each of two connections begins one before the other ends. */
async function readAlways(path: string, readMs: number): Promise<Worker> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { DatabaseSync } = require('node:sqlite');
    const readers = [new DatabaseSync(workerData.path), new DatabaseSync(workerData.path)];
    const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.readMs / 2);
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
  const reading = new Worker(code, { eval: true, workerData: { path, readMs } });
  await once(reading, 'message');
  return reading;
}

for (const { readMs, written, longest } of [
  { readMs: 4, written: 10_000, longest: 7000 },
  { readMs: 120, written: 25_000, longest: 14_000 },
]) {
  test(`The WAL stays short although some read of ${readMs} ms uses it at any time`, async () => {
    const { db, path, write, walPages } = openTable();
    const checkpoint = new WalCheckpoint(db);
    const reading = await readAlways(path, readMs);
    for (let pages = 0; pages < written; pages += 50) {
      write(50);
      checkpoint.runIfLong();
    }
    await reading.terminate();
    assert.ok(walPages() < longest, `${walPages()} of ${written} pages written`);
    db.close();
  });
}

test('A long read delays few checkpoints, and the WAL starts over after it', () => {
  const { db, path, write, walPages } = openTable();
  const checkpoint = new WalCheckpoint(db);
  const reader = new DatabaseSync(path);
  /** Writes pages and returns the number of checkpoints that waited. */
  const countWaits = (pages: number) => {
    let waits = 0;
    for (let n = 0; n < pages; n += 50) {
      write(50);
      const startMs = performance.now();
      checkpoint.runIfLong();
      if (performance.now() - startMs >= 90) waits++;
    }
    return waits;
  };
  reader.exec('BEGIN; SELECT count(*) FROM texts');
  const waits = countWaits(6000);
  assert.ok(waits >= 1 && waits <= 6, `${waits} waits`);
  const longest = walPages();
  reader.exec('COMMIT');
  countWaits(7500);
  assert.ok(walPages() < longest * 1.5, `${walPages()} pages after ${longest}`);
  checkpoint.empty();
  assert.equal(walPages(), 0);
  db.close();
  reader.close();
});

test('After a long read, checkpoints wait at the same length of the WAL as before it', () => {
  const { db, path, write, walPages } = openTable();
  const checkpoint = new WalCheckpoint(db);
  const reader = new DatabaseSync(path);
  const begin = 'BEGIN; SELECT count(*) FROM texts';
  reader.exec(begin);
  write(7000);
  checkpoint.runIfLong(); // it waits in vain
  reader.exec('COMMIT');
  for (let n = 0; n < 2; n++) {
    write(50); // the WAL starts over with the second write
    checkpoint.runIfLong();
  }
  reader.exec(begin);
  write(5000);
  const startMs = performance.now();
  checkpoint.runIfLong();
  assert.ok(performance.now() - startMs >= 90, 'the checkpoint did not wait for the reader');
  assert.ok(walPages() < 7500, 'the WAL started over');
  db.close();
  reader.close();
});

test('A checkpoint that is not possible now does not throw', () => {
  const { db, write } = openTable();
  const checkpoint = new WalCheckpoint(db);
  write(50);
  db.exec('BEGIN IMMEDIATE');
  checkpoint.runIfLong(); // SQLite reports SQLITE_LOCKED for every kind of checkpoint
  db.exec('COMMIT');
  db.close();
});

test('A store closes in half a second beside a checkpoint of another process, without using the CPU', async () => {
  const { db, path, write } = openTable();
  const checkpoint = new WalCheckpoint(db);
  write(50);
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM texts');
  const code = `
    const { DatabaseSync } = require('node:sqlite');
    const db = new DatabaseSync(require('node:worker_threads').workerData, { timeout: 5000 });
    db.exec('PRAGMA wal_checkpoint(RESTART)');`;
  const other = new Worker(code, { eval: true, workerData: path });
  await until(() => db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get()?.busy === 1n);
  const startMs = performance.now();
  const cpu = process.threadCpuUsage();
  checkpoint.empty();
  const { user, system } = process.threadCpuUsage(cpu);
  assert.ok(performance.now() - startMs < 2500);
  assert.ok((user + system) / 1000 < 100, `${(user + system) / 1000} ms of CPU time`);
  reader.exec('COMMIT');
  await once(other, 'exit');
  reader.close();
  db.close();
});

test('A store closes in half a second beside a reader, for which the WAL stays', () => {
  const { db, path, write, walPages } = openTable();
  const checkpoint = new WalCheckpoint(db);
  write(50);
  const reader = new DatabaseSync(path);
  reader.exec('BEGIN; SELECT count(*) FROM texts');
  const startMs = performance.now();
  checkpoint.empty();
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs >= 490 && tookMs < 2500, `${tookMs} ms`);
  assert.ok(walPages() >= 50, `${walPages()} pages`);
  db.close();
  reader.close();
});
