// Runs in the writer thread and owns the only connection that writes. It commits each batch with one transaction and
// one fsync, and reports the results only after the commit.

import type { StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { isMarkedCopy, skipNumbers } from './change-numbers.ts';
import { openConnection } from './database.ts';
import { findLost, identify, type OwnFile, saveFile } from './open-database-files.ts';
import { type Failure, failureOf } from './sqlite-errors.ts';
import { packResult, type ResultMessage, unpackWrite, type WriteMessage } from './writer-messages.ts';
import { prepareWrites, type Write } from './writes.ts';

/** Length of the WAL at which a checkpoint copies it into the database file. */
const CHECKPOINT_PAGES = 1000;

/** Interval for checking that the open files still have their names. */
const CHECK_FILES_MS = 250;

/** Size of the page cache. It holds all pages that a batch of an import uses. */
const CACHE_KIB = 8 * 1024;

export type Committed = { results: ResultMessage[]; durationMs: number };
export type BatchResult = Committed | { failure: Failure; message: string };

const port = parentPort;
if (!port) throw new Error('writer-thread.ts must run in a worker thread');

const { path, lockPath } = workerData as { path: string; lockPath: string | undefined };
const wal = `${path}-wal`;
const db = openConnection(path);
db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
db.exec('PRAGMA wal_autocheckpoint = 0'); // replaced by checkpointWhenLong: SQLite's own would hide a failed fsync
db.exec(`ATTACH ':memory:' AS batch`);
const lostWords = new Set<string>();
let apply = prepareWrites(db, lostWords);
let walSize = prepareWalSize();
let mayBeCopy = isMarkedCopy(db);
let hasLost = false;
/** Files that hold a newly committed record. */
const ofCommit = [path, wal].map(identify);
/** All open files. Without the -shm and lock files, the next process could not detect this one. */
const allFiles = [path, wal, `${path}-shm`, ...(lockPath === undefined ? [] : [lockPath])].map(identify);
const checking = setInterval(() => {
  const lost = findLost(allFiles);
  if (lost !== undefined) endWithout(lost);
}, CHECK_FILES_MS);

port.on('message', (batch: WriteMessage[] | 'close') => {
  if (hasLost) return;
  if (batch === 'close') {
    clearInterval(checking);
    tolerantly(() => db.exec('PRAGMA wal_checkpoint(TRUNCATE)')); // close() would do this without reporting a failure
    db.close();
    port.close();
    return;
  }
  const result = commit(batch.map(unpackWrite));
  const lost = findLost(ofCommit); // before the response: a file without a name is lost in a crash
  if (lost !== undefined) {
    endWithout(lost);
    return;
  }
  port.postMessage(result);
  tolerantly(checkpointWhenLong);
});

port.postMessage('ready');

function commit(batch: Write[]): BatchResult {
  const begunMs = performance.now();
  try {
    if (batch[0]?.kind === 'create_plants') {
      db.deserialize(batch[0].image.bytes, { dbName: 'batch' });
      apply = prepareWrites(db, lostWords); // deserialize() finalizes all statements
      walSize = prepareWalSize();
    }
    db.exec('BEGIN IMMEDIATE');
    if (mayBeCopy && isMarkedCopy(db)) skipNumbers(db); // unless another process already did
    const results = apply(batch);
    db.exec('COMMIT');
    mayBeCopy = false;
    return {
      results: results.map((result, at) => packResult(result, batch[at] as Write)),
      durationMs: performance.now() - begunMs,
    };
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    const failure = failureOf(error);
    if (failure !== 'fatal') apply = prepareWrites(db, lostWords); // the old one holds words that were rolled back
    return { failure, message: String(error) };
  }
}

/** Reports a lost file, after which the process must exit. Restores a lost WAL to keep its acknowledged records. */
function endWithout(lost: OwnFile): void {
  hasLost = true;
  clearInterval(checking);
  let outcome = '';
  try {
    if (lost.name === wal) {
      saveFile(lost);
      outcome = '. It was restored with all records';
    }
  } catch (error) {
    outcome = `. The newest records are lost: ${error}`;
  }
  port?.postMessage({ failure: 'fatal', message: `${lost.name} was moved, replaced or deleted${outcome}` });
}

function prepareWalSize(): StatementSync {
  return db.prepare('PRAGMA wal_checkpoint(NOOP)');
}

function checkpointWhenLong(): void {
  const { log, checkpointed } = walSize.get() as { log: bigint; checkpointed: bigint };
  if (log - checkpointed >= CHECKPOINT_PAGES) db.exec('PRAGMA wal_checkpoint(PASSIVE)');
}

/** Runs a checkpoint. On a full disk or beside a reader, the WAL stays longer. Other errors end the process. */
function tolerantly(checkpoint: () => void): void {
  try {
    checkpoint();
  } catch (error) {
    if (failureOf(error) !== 'full' && failureOf(error) !== 'busy') throw error;
  }
}
