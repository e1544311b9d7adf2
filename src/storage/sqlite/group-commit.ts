// Group commit: writes that arrive while a commit is under way wait for the next one and share it.
// The transaction itself runs in a thread of its own, so that a slow disk stalls nothing else.

import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import { toError } from '../write-rules.ts';
import type { Done, Write } from './plants-write.ts';
import type { Failure } from './sqlite-errors.ts';
import { type CrossingResult, packWrite, unpackResult } from './writer-messages.ts';
import type { BatchResult } from './writer-thread.ts';

const MAX_BATCH_WRITES = 1000;
/** Past either bound a write is turned away: the disk cannot keep up, and waiting longer helps nobody. */
const MAX_WAITING_WRITES = 10_000;
const MAX_WAITING_CHARS = 16 * 1024 * 1024;

/** In a package it is JavaScript, as this file is then. */
const THREAD = new URL(`./writer-thread${extname(import.meta.filename)}`, import.meta.url);

/** What the thread makes lives for one batch: more room for it would only be filled. */
const YOUNG_MIB = 6;

const ADVICE: Partial<Record<Failure, string>> = {
  full: 'The disk is full: try again later',
  busy: 'The database is busy: try again later',
};

export interface Writer {
  /** Resolves after the commit. */
  write<W extends Write>(write: W): Promise<Done<W>>;
  /** So many are not in a transaction yet. */
  waiting(): number;
  /** Ends everything: what was read shows that the disk or the file can no longer be trusted. */
  fail(cause: Error): void;
  /** Ends when everything handed in before is committed. Throws if the file could not be closed properly. */
  close(): Promise<void>;
}

interface Waiting {
  write: Write;
  chars: number;
  resolve(done: unknown): void;
  reject(error: Error): void;
}

export interface WriterOptions {
  path: string;
  /** Of a server. */
  lockPath: string | undefined;
  observe: Observe;
  onCommit(): void;
  /** Called once, when the disk or the file can no longer be trusted: the process must end, closing nothing. */
  onFailure(): void;
}

export async function startWriter(options: WriterOptions): Promise<Writer> {
  const { path, lockPath, observe, onCommit, onFailure } = options;
  const thread = new Worker(THREAD, {
    workerData: { path, lockPath },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
  });
  await once(thread, 'message'); // it has opened the database; throws if it could not

  let waiting: Waiting[] = [];
  let waitingChars = 0;
  let underWay: Waiting[] = [];
  let lastCommitMs = 0;
  let scheduled = false;
  let scheduledMs = 0;
  let failing = false;
  let failed = false;
  let closing = false;
  const ended = Promise.withResolvers<void>();
  ended.promise.catch(() => {}); // told to `observe` already, whoever waits or not

  thread.on('message', (result: BatchResult) => {
    const batch = underWay;
    underWay = [];
    settle(batch, result);
    if (!failed) commitNext();
  });
  thread.on('error', fail);
  thread.on('exit', () => (closing ? ended.resolve() : fail(new Error('The writer ended by itself'))));

  return {
    write<W extends Write>(write: W): Promise<Done<W>> {
      const chars = charsOf(write);
      if (failed || closing) return Promise.reject(unavailable('The store is stopping: try again later'));
      if (waiting.length >= MAX_WAITING_WRITES || waitingChars + chars > MAX_WAITING_CHARS) {
        return Promise.reject(unavailable('Too many writes are waiting: try again later'));
      }
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.push({ write, chars, resolve, reject });
      waitingChars += chars;
      scheduleCommit();
      return promise as Promise<Done<W>>;
    },
    waiting: () => waiting.length,
    fail,
    async close() {
      if (failed) return;
      closing = true;
      if (!scheduled) commitNext();
      await ended.promise;
    },
  };

  /**
   * At the end of this turn of the event loop: all requests read in it share one commit. Where the turn is longer than
   * a commit, what is there begins without the rest, so that the disk and the requests do not wait for each other.
   */
  function scheduleCommit(): void {
    if (underWay.length > 0) return;
    if (scheduled) {
      if (performance.now() - scheduledMs > lastCommitMs) commitNext();
      return;
    }
    scheduled = true;
    scheduledMs = performance.now();
    setImmediate(() => {
      scheduled = false;
      commitNext();
    });
  }

  function commitNext(): void {
    if (underWay.length > 0) return;
    if (waiting.length === 0) {
      if (closing) thread.postMessage('close');
      return;
    }
    const end = endOfBatch();
    underWay = waiting.slice(0, end);
    waiting = waiting.slice(end);
    for (const { chars } of underWay) waitingChars -= chars;
    const first = underWay[0]?.write;
    thread.postMessage(
      underWay.map(({ write }) => packWrite(write)),
      first?.kind === 'create_plants' ? [first.image.bytes.buffer] : [],
    );
  }

  /** An import's many plants are a transaction of their own. */
  function endOfBatch(): number {
    const next = waiting.findIndex(({ write }) => write.kind === 'create_plants');
    if (next === 0) return 1;
    return next === -1 ? MAX_BATCH_WRITES : Math.min(next, MAX_BATCH_WRITES);
  }

  function settle(batch: Waiting[], result: BatchResult): void {
    if ('results' in result) {
      const { results, durationMs } = result;
      lastCommitMs = durationMs;
      observe({ kind: 'commit', writes: countOf(batch), durationMs });
      for (const [at, { resolve, reject }] of batch.entries()) {
        const own = unpackResult(results[at] as CrossingResult);
        if ('done' in own) resolve(own.done);
        else reject(toError(own));
      }
      onCommit();
      if (failing) observe({ kind: 'writes_recovered' });
      failing = false;
      return;
    }
    const cause = new Error(result.message);
    if (result.failure === 'fatal') {
      underWay = batch;
      fail(cause);
      return;
    }
    const advice = ADVICE[result.failure];
    for (const { reject } of batch) reject(advice ? unavailable(advice, cause) : cause);
    if (!failing) observe({ kind: 'writes_failing', reason: result.message });
    failing = true;
  }

  function fail(cause: Error): void {
    if (failed) return;
    failed = true;
    const error = unavailable('It is not known if the record was stored: send the same record again', cause);
    for (const { reject } of underWay) reject(error);
    for (const { reject } of waiting) reject(error);
    underWay = [];
    waiting = [];
    ended.reject(cause);
    observe({ kind: 'store_failed', error: cause });
    onFailure();
  }
}

function countOf(batch: Waiting[]): number {
  const write = batch[0]?.write;
  return write?.kind === 'create_plants' ? write.image.count : batch.length;
}

function charsOf(write: Write): number {
  switch (write.kind) {
    case 'create':
    case 'put':
      return write.plant.name.length + (write.plant.tag?.length ?? 0);
    case 'patch':
      return (write.patch.name?.length ?? 0) + (write.patch.tag?.length ?? 0);
    default: // of imports, stage.ts hands in two at most
      return 0;
  }
}
