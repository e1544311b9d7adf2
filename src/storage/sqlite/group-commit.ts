// Group commit: writes that arrive during a commit are queued and share the next one. Transactions run in their own
// thread, so that a slow disk stalls nothing else.

import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../domain/errors.ts';
import { oncePerTurn } from '../../lib/once-per-turn.ts';
import type { Observe } from '../../observability/service-events.ts';
import { charsOfWrite, DATABASE_BUSY, outcomeUnknown, requireRoomInQueue, storeStopping } from '../write-limits.ts';
import { toError } from '../write-rules.ts';
import type { Failure } from './sqlite-errors.ts';
import { packWrite, type ResultMessage, unpackResult } from './writer-messages.ts';
import type { BatchResult, Committed } from './writer-thread.ts';
import type { Done, Write } from './writes.ts';

const MAX_BATCH_WRITES = 1000;

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./writer-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects. The thread's objects live for one batch, so more memory gains nothing. */
const YOUNG_MIB = 6;

const ADVICE: Partial<Record<Failure, string>> = {
  full: 'The disk of the database is full. Retry later.',
  busy: DATABASE_BUSY,
};

interface QueuedWrite {
  write: Write;
  chars: number;
  resolve(done: unknown): void;
  reject(error: Error): void;
}

export interface GroupCommitOptions {
  path: string;
  /** Path of the lock file. Only a server has one. */
  lockPath: string | undefined;
  observe: Observe;
  onCommit(): void;
  /** Called once, when the disk or the file is no longer reliable. The process must exit without closing the store. */
  onFailure(): void;
}

export async function startGroupCommit(options: GroupCommitOptions): Promise<GroupCommit> {
  const { path, lockPath } = options;
  const thread = new Worker(THREAD, {
    workerData: { path, lockPath },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
  });
  await once(thread, 'message'); // the thread opened the database; rejects if it failed
  return new GroupCommit(thread, options);
}

export class GroupCommit {
  readonly #thread: Worker;
  readonly #options: GroupCommitOptions;
  readonly #ended = Promise.withResolvers<void>();
  readonly #commitAtEndOfTurn = oncePerTurn(() => this.#commitNext());
  #queue: QueuedWrite[] = [];
  #queuedChars = 0;
  /** Time when the first queued write arrived, unless a batch was in flight. */
  #queuedSinceMs = 0;
  #inFlight: QueuedWrite[] = [];
  #lastCommitMs = 0;
  /** True from the rollback of a batch until the next commit. */
  #isFailing = false;
  /** True after the first call of `fail`. */
  hasFailed = false;
  #isClosing = false;
  #isCloseSent = false;

  /** The thread must have opened the database. */
  constructor(thread: Worker, options: GroupCommitOptions) {
    this.#thread = thread;
    this.#options = options;
    this.#ended.promise.catch(() => {}); // `observe` receives the error, even if no caller closes the store
    thread.on('message', (result: BatchResult) => this.#settle(result));
    thread.on('error', (error: Error) => this.fail(error));
    thread.on('exit', () => {
      if (this.#isClosing) this.#ended.resolve();
      else this.fail(new Error('The writer thread ended unexpectedly'));
    });
  }

  /** Queues a write. Resolves after its commit. */
  write<W extends Write>(write: W): Promise<Done<W>> {
    return new Promise((resolve, reject) => {
      if (this.hasFailed || this.#isClosing) throw storeStopping();
      const chars = charsOfWrite(write);
      requireRoomInQueue({ writes: this.#queue.length, chars: this.#queuedChars }, chars);
      this.#queue.push({ write, chars, resolve, reject });
      this.#queuedChars += chars;
      if (this.#inFlight.length === 0) this.#schedule();
    });
  }

  /** Returns the number of queued writes, without those in flight. */
  waiting(): number {
    return this.#queue.length;
  }

  /** Resolves when all earlier writes are committed and the file is closed. Throws if closing fails. */
  async close(): Promise<void> {
    if (this.hasFailed) return;
    this.#isClosing = true;
    this.#commitAtEndOfTurn();
    await this.#ended.promise;
  }

  /** Rejects all writes and stops for good, because the disk or the file is no longer reliable. */
  fail(cause: Error): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    const error = outcomeUnknown(cause);
    for (const { reject } of [...this.#inFlight, ...this.#queue]) reject(error);
    this.#inFlight = [];
    this.#queue = [];
    this.#ended.reject(cause);
    this.#options.observe({ kind: 'store_failed', error: cause });
    this.#options.onFailure();
  }

  /**
   * Commits at the end of this turn of the event loop, so that all requests read in the turn share one commit. If the
   * turn takes longer than a commit, the queued writes start earlier: the disk and the requests then work in parallel.
   */
  #schedule(): void {
    const nowMs = performance.now();
    if (this.#queue.length === 1) this.#queuedSinceMs = nowMs;
    if (nowMs - this.#queuedSinceMs > this.#lastCommitMs) this.#commitNext();
    else this.#commitAtEndOfTurn();
  }

  #commitNext(): void {
    if (this.hasFailed || this.#inFlight.length > 0) return;
    if (this.#queue.length === 0) {
      if (this.#isClosing && !this.#isCloseSent) this.#thread.postMessage('close');
      this.#isCloseSent = this.#isClosing; // #commitNext may run once more at the end of this turn
      return;
    }
    const end = this.#endOfBatch();
    const batch = this.#queue.slice(0, end);
    this.#queue = this.#queue.slice(end);
    this.#inFlight = batch;
    for (const { chars } of batch) this.#queuedChars -= chars;
    const [first] = batch;
    const transferred = first?.write.kind === 'create_plants' ? [first.write.image.bytes.buffer] : [];
    this.#thread.postMessage(
      batch.map(({ write }) => packWrite(write)),
      transferred,
    );
  }

  /** Returns the end of the next batch. The plants of an import have their own transaction. */
  #endOfBatch(): number {
    const next = this.#queue.findIndex(({ write }) => write.kind === 'create_plants');
    if (next === 0) return 1;
    return next === -1 ? MAX_BATCH_WRITES : Math.min(next, MAX_BATCH_WRITES);
  }

  #settle(result: BatchResult): void {
    if (this.hasFailed) return;
    if ('failure' in result && result.failure === 'fatal') {
      this.fail(new Error(result.message));
      return;
    }
    const batch = this.#inFlight;
    this.#inFlight = [];
    if ('results' in result) this.#resolve(batch, result);
    else this.#rollBack(batch, result.failure, result.message);
    this.#commitNext();
  }

  #resolve(batch: QueuedWrite[], { results, durationMs }: Committed): void {
    const { observe, onCommit } = this.#options;
    this.#lastCommitMs = durationMs;
    observe({ kind: 'commit', writes: countOf(batch), durationMs });
    for (const [at, { resolve, reject }] of batch.entries()) {
      const own = unpackResult(results[at] as ResultMessage);
      if ('done' in own) resolve(own.done);
      else reject(toError(own));
    }
    onCommit();
    if (this.#isFailing) observe({ kind: 'writes_recovered' });
    this.#isFailing = false;
  }

  #rollBack(batch: QueuedWrite[], failure: Failure, message: string): void {
    const cause = new Error(message);
    const advice = ADVICE[failure];
    for (const { reject } of batch) reject(advice ? unavailable(advice, cause) : cause);
    if (!this.#isFailing) this.#options.observe({ kind: 'writes_failing', reason: message });
    this.#isFailing = true;
  }
}

function countOf(batch: QueuedWrite[]): number {
  const write = batch[0]?.write;
  return write?.kind === 'create_plants' ? write.image.count : batch.length;
}
