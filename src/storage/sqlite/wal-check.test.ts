import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { makeFolder } from '../../../testing/server.ts';
import { findWalDamage } from './wal-check.ts';

const COMMITS = 1000;
/** Large ones, several frames each, in a log that begins anew now and then. */
const WRITES = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData: path } = require('node:worker_threads');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 200; CREATE TABLE t (x)');
  parentPort.postMessage('begun');
  const insert = db.prepare('INSERT INTO t VALUES (randomblob(20000))');
  for (let n = 0; n < ${COMMITS}; n++) insert.run();
  db.close();`;

test('a log into which somebody writes just now is not taken for damaged', async () => {
  const path = join(makeFolder(), 'plants.db');
  const writer = new Worker(WRITES, { eval: true, workerData: path });
  await once(writer, 'message');
  let isWriting = true;
  const ended = once(writer, 'exit');
  void ended.then(() => {
    isWriting = false;
  });
  let looks = 0;
  for (; isWriting; looks++) {
    try {
      assert.equal(findWalDamage(`${path}-wal`, 4096), undefined, `look ${looks}`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error; // it is gone with the last who had it open
    }
    await nextTurn();
  }
  await ended;
  assert.ok(looks > 20, `${looks} looks`);
});
