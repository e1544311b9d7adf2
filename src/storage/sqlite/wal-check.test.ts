import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '../../../testing/server.ts';
import { findWalDamage } from './wal-check.ts';

const CHECKS = 100;
/** Writes until `stop` is set: commits of several frames each, in a WAL that starts over every 200 pages. */
const WRITES = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: { path, stop } } = require('node:worker_threads');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 200');
  db.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x)');
  parentPort.postMessage('begun');
  const write = db.prepare('INSERT OR REPLACE INTO t VALUES (?, randomblob(20000))');
  for (let n = 0; Atomics.load(stop, 0) === 0; n++) write.run(n % 100);
  db.close();`;

test('a WAL is not reported as damaged while another connection writes to it', async () => {
  const path = join(makeFolder(), 'plants.db');
  const stop = new Int32Array(new SharedArrayBuffer(4));
  const writer = new Worker(WRITES, { eval: true, workerData: { path, stop } });
  await once(writer, 'message');
  const ended = once(writer, 'exit');
  try {
    for (let check = 0; check < CHECKS; check++) {
      assert.equal(findWalDamage(`${path}-wal`, 4096), undefined, `check ${check}`);
      await nextTurn();
    }
  } finally {
    Atomics.store(stop, 0, 1);
  }
  await ended;
});
