// Group commit: writes that arrive during a commit are queued and share the next one. Transactions run in their own
// thread, so that a slow disk stalls nothing else. Each thread that serves requests has a queue of its own, and another
// for its imports. The writer thread commits the batches of all queues together, except for those of imports.

import type { MessagePort } from 'node:worker_threads';
import { unavailable } from '../../domain/errors.ts';
import { oncePerTurn } from '../../lib/once-per-turn.ts';
import { charsOfWrite, QueueRoom } from '../queue-room.ts';
import { DATABASE_BUSY, outcomeUnknown, storeStopping } from '../store-errors.ts';
import { toError } from '../write-rules.ts';
import { AnnouncedBatches } from './announced-batches.ts';
import type { Failure } from './sqlite-errors.ts';
import type { WriterConnection } from './writer.ts';
import {
  type BatchResult,
  packWrite,
  type ResultMessage,
  type RolledBack,
  type Settled,
  unpackResult,
} from './writer-messages.ts';
import type { Done, Write } from './writes.ts';

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
  connection: WriterConnection;
  /** Maximum number of writes in a batch. */
  maxWrites: number;
  /** Called once, when the disk or the file is no longer reliable. The process must exit without closing the store. */
  onFailure(cause: Error): void;
}

export class GroupCommit {
  /** Room in the queues of all threads. Writes take it until they are settled. */
  readonly room: QueueRoom;
  readonly #options: GroupCommitOptions;
  readonly #port: MessagePort;
  readonly #announced: AnnouncedBatches;
  readonly #drained = Promise.withResolvers<void>();
  readonly #commitAtEndOfTurn = oncePerTurn(() => this.#commitNext());
  #queue: QueuedWrite[] = [];
  /** Time when the first queued write arrived, unless a batch was in flight. */
  #queuedSinceMs = 0;
  #inFlight: QueuedWrite[] = [];
  #isAnnounced = false;
  #lastCommitMs = 0;
  /** True after the first call of `fail`. */
  hasFailed = false;
  #isClosing = false;

  constructor(options: GroupCommitOptions) {
    const { port, memory } = options.connection;
    this.#options = options;
    this.#port = port;
    this.room = new QueueRoom(memory.room);
    this.#announced = new AnnouncedBatches(memory.announced);
    port.on('message', (result: BatchResult) => this.#settle(result));
    port.on('close', () => {
      if (!this.#isClosing) this.fail(new Error('The writer thread ended unexpectedly'));
    });
  }

  /** Queues a write. Resolves after its commit. */
  write<W extends Write>(write: W): Promise<Done<W>> {
    return new Promise((resolve, reject) => {
      if (this.hasFailed || this.#isClosing) throw storeStopping();
      const chars = charsOfWrite(write);
      this.room.take(chars);
      this.#queue.push({ write, chars, resolve, reject });
      this.#announce();
      if (this.#inFlight.length === 0) this.#schedule();
    });
  }

  /** Rejects later writes. Resolves when all earlier ones are committed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#commitAtEndOfTurn();
    await this.#drained.promise;
    this.#port.close();
  }

  /** Rejects all writes and stops for good, because the disk or the file is no longer reliable. */
  fail(cause: Error): void {
    if (this.hasFailed) return;
    this.hasFailed = true;
    const error = outcomeUnknown(cause);
    const all = [...this.#inFlight, ...this.#queue];
    this.#inFlight = [];
    this.#queue = [];
    this.#free(all);
    for (const { reject } of all) reject(error);
    this.#withdraw();
    this.#drained.resolve();
    this.#options.onFailure(cause);
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
      if (this.#isClosing) this.#drained.resolve();
      return;
    }
    const { maxWrites } = this.#options;
    const batch = this.#queue.slice(0, maxWrites);
    this.#queue = this.#queue.slice(maxWrites);
    this.#inFlight = batch;
    const [first] = batch;
    const transferred = first?.write.kind === 'create_plants' ? [first.write.image.bytes.buffer] : [];
    this.#port.postMessage(
      batch.map(({ write }) => packWrite(write)),
      transferred,
    );
    this.#withdraw();
  }

  #announce(): void {
    const { thread } = this.#options.connection;
    if (!this.#isAnnounced && thread !== undefined) this.#announced.announce(thread);
    this.#isAnnounced = true;
  }

  #withdraw(): void {
    const { thread } = this.#options.connection;
    if (this.#isAnnounced && thread !== undefined) this.#announced.withdraw(thread);
    this.#isAnnounced = false;
  }

  #settle(result: BatchResult): void {
    if (this.hasFailed) return;
    if ('fatal' in result) {
      this.fail(new Error(result.fatal));
      return;
    }
    const batch = this.#inFlight;
    this.#inFlight = [];
    this.#free(batch);
    this.#settleEach(batch, result);
    this.#commitNext();
  }

  /** Frees the room of settled writes. Until then, the writer thread holds them in memory. */
  #free(settled: QueuedWrite[]): void {
    const chars = settled.reduce((sum, { chars }) => sum + chars, 0);
    this.room.free(settled.length, chars);
  }

  #settleEach(batch: QueuedWrite[], { results, durationMs }: Settled): void {
    this.#lastCommitMs = durationMs;
    for (const [at, { resolve, reject }] of batch.entries()) {
      const own = unpackResult(results[at] as ResultMessage);
      if ('done' in own) resolve(own.done);
      else reject('failure' in own ? toFailure(own) : toError(own));
    }
  }
}

function toFailure({ failure, message }: RolledBack): Error {
  const cause = new Error(message);
  const advice = ADVICE[failure];
  return advice ? unavailable(advice, cause) : cause;
}
