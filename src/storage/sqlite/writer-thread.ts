// Runs in the writer thread and owns the only connection that writes. It commits the batches that wait with one
// transaction and one fsync, and reports the results only after the commit.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { SharedCount } from '../../lib/shared-count.ts';
import type { ServiceEvent } from '../../observability/service-events.ts';
import { CommitCounter } from '../commit-counter.ts';
import { AnnouncedBatches } from './announced-batches.ts';
import { isMarkedCopy, skipNumbers } from './change-numbers.ts';
import { openConnection } from './database.ts';
import { findLost, identify, type OwnFile, saveFile } from './open-database-files.ts';
import { createVocabulary } from './search-words.ts';
import { failureOf } from './sqlite-errors.ts';
import { type Batch, WaitingBatches } from './waiting-batches.ts';
import { WalCheckpoint } from './wal-checkpoint.ts';
import type { WriterCommand, WriterData } from './writer.ts';
import {
  type BatchResult,
  isRolledBack,
  packResult,
  type ResultMessage,
  type Settled,
  type WriteMessage,
} from './writer-messages.ts';
import { prepareWrites, type Write } from './writes.ts';

/** Interval for checking that the open files still have their names. */
const CHECK_FILES_MS = 250;

/** Size of the page cache. It holds all pages that a batch of an import uses. */
const CACHE_KIB = 8 * 1024;

if (!parentPort) throw new Error('writer-thread.ts must run in a worker thread');
const main = parentPort;

const { path, lockPath, memory } = workerData as WriterData;
const commits = new CommitCounter(memory.commits);
const announced = new AnnouncedBatches(memory.announced);
/** The connections, with the numbers of the threads that announce batches. */
const ports = new Map<MessagePort, number | undefined>();
const waiting = new WaitingBatches();
/** True from the rollback of a batch until the next commit. */
let isFailing = false;
const wal = `${path}-wal`;
const db = openConnection(path);
db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
db.exec(`ATTACH ':memory:' AS batch`);
const vocabulary = createVocabulary();
let apply = prepareWrites(db, vocabulary);
const endings = new SharedCount(memory.endings);
const checkpoint = new WalCheckpoint(db, () => endings.add(1));
let mayBeCopy = isMarkedCopy(db);
/** Reason why the disk or a file can no longer be trusted, if so. Nothing is written any more. */
let failure: string | undefined;
/** Files that hold a newly committed record. */
const ofCommit = [path, wal].map(identify);
/** All open files. Without the -shm and lock files, the next process could not detect this one. */
const allFiles = [path, wal, `${path}-shm`, ...(lockPath === undefined ? [] : [lockPath])].map(identify);
const checking = setInterval(() => {
  const lost = findLost(allFiles);
  if (lost !== undefined) endWithout(lost);
}, CHECK_FILES_MS);

main.on('message', (command: WriterCommand) => {
  if (command === 'close') close();
  else if ('fail' in command) fail(command.fail);
  else if ('emptyWal' in command) emptyWal(command.reply);
  else connect(command.connect, command.thread);
});

process.on('uncaughtException', (error) => {
  fail(String(error));
  process.exit(1);
});

main.postMessage('ready');

function connect(port: MessagePort, thread: number | undefined): void {
  ports.set(port, thread);
  port.on('message', (messages: WriteMessage[]) => {
    waiting.add(port, messages);
    commitWaiting();
  });
  port.on('close', () => ports.delete(port));
}

/** Copies the WAL into the database file and empties it. Replies with the failure, if any. */
function emptyWal(reply: MessagePort): void {
  clearInterval(checking);
  try {
    if (failure === undefined) checkpoint.empty();
  } catch (error) {
    fail(`Cannot copy the WAL into ${path}: ${(error as Error).message}. Check the disk, then start again`);
  }
  reply.postMessage(failure);
}

function close(): void {
  clearInterval(checking);
  if (failure === undefined) db.close();
  for (const port of ports.keys()) port.close();
  main.close();
}

/** Commits the batches that wait, including those that arrived during the last commit. */
function commitWaiting(): void {
  if (failure !== undefined || waiting.isEmpty) return;
  const others = [...ports].filter(([port]) => !waiting.has(port));
  announced.waitFor(others.map(([, thread]) => thread).filter((thread) => thread !== undefined));
  for (const [port] of others) {
    const received = receiveMessageOnPort(port);
    if (received) waiting.add(port, received.message);
  }
  const batches = waiting.takeNext();
  const begunMs = performance.now();
  let results: ResultMessage[] = [];
  let fatal: unknown;
  try {
    results = commit(batches.flatMap(({ writes }) => writes));
  } catch (error) {
    fatal = error;
  }
  const settled = { results, durationMs: performance.now() - begunMs };
  const lost = findLost(ofCommit); // before the response: a file without a name is lost in a crash
  if (lost !== undefined) endWithout(lost);
  else if (fatal !== undefined) fail(String(fatal));
  if (failure !== undefined) return;
  reply(batches, settled);
  report(batches, settled);
  checkpoint.runIfLong();
  if (!waiting.isEmpty) setImmediate(commitWaiting);
}

/** Sends the results of each batch. */
function reply(batches: Batch[], { results, durationMs }: Settled): void {
  let at = 0;
  for (const { port, writes } of batches) {
    const own: BatchResult = { results: results.slice(at, at + writes.length), durationMs };
    at += writes.length;
    port.postMessage(own);
  }
  if (!results.every(isRolledBack)) commits.add();
}

/** Reports a commit, and when writes begin to fail and recover. A bug of one write does not mean that others fail. */
function report([first]: Batch[], { results, durationMs }: Settled): void {
  const failed = results.filter(isRolledBack);
  const cause = failed.find(({ failure }) => failure !== 'bug');
  if (cause && !isFailing) observe({ kind: 'writes_failing', reason: cause.message });
  const [write] = first?.writes ?? [];
  const writes = write?.kind === 'create_plants' ? write.image.count : results.length - failed.length;
  const isCommitted = failed.length < results.length;
  if (isCommitted) observe({ kind: 'commit', writes, durationMs });
  if (isCommitted && !cause && isFailing) observe({ kind: 'writes_recovered' });
  isFailing = cause !== undefined || (isFailing && !isCommitted);
}

/** Reports an event to the main thread, so that events of different threads stay in order. */
function observe(event: ServiceEvent): void {
  main.postMessage(event);
}

/** Commits a batch. If a bug prevents that, commits each half, so that only the faulty write fails. Throws fatal errors. */
function commit(batch: Write[]): ResultMessage[] {
  try {
    if (batch[0]?.kind === 'create_plants') {
      try {
        db.deserialize(batch[0].image.bytes, { dbName: 'batch' });
      } finally {
        apply = prepareWrites(db, vocabulary); // deserialize() finalizes all statements
      }
    }
    db.exec('BEGIN IMMEDIATE');
    if (mayBeCopy && isMarkedCopy(db)) skipNumbers(db); // unless another process already did
    const results = apply(batch).map((result, at) => packResult(result, batch[at] as Write));
    db.exec('COMMIT');
    mayBeCopy = false;
    return results;
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    const kind = failureOf(error);
    if (kind === 'fatal') throw error;
    vocabulary.reset(); // it holds words that were rolled back
    const half = batch.length >> 1;
    if (kind === 'bug' && half > 0) return [...commit(batch.slice(0, half)), ...commit(batch.slice(half))];
    return batch.map(() => ({ failure: kind, message: String(error) }));
  }
}

/** Reports a lost file, after which the process must exit. Restores a lost WAL to keep its acknowledged records. */
function endWithout(lost: OwnFile): void {
  let outcome = '';
  try {
    if (lost.name === wal) {
      saveFile(lost);
      outcome = '. It was restored with all records';
    }
  } catch (error) {
    outcome = `. The newest records are lost: ${error}`;
  }
  fail(`${lost.name} was moved, replaced or deleted${outcome}`);
}

/** Stops writing for good, and reports to all threads that the process must exit. */
function fail(message: string): void {
  failure = message;
  clearInterval(checking);
  for (const port of ports.keys()) port.postMessage({ fatal: message } satisfies BatchResult);
}
