// Starts the writer thread and connects threads to it.

import { once } from 'node:events';
import { extname } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { CommitCounter } from '../commit-counter.ts';
import { QueueRoom } from '../write-limits.ts';
import { AnnouncedBatches } from './announced-batches.ts';

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./writer-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects. The thread's objects live for one batch, so more memory gains nothing. */
const YOUNG_MIB = 6;

export interface WriterData {
  path: string;
  /** Path of the lock file. Only a server has one. */
  lockPath: string | undefined;
  /** Memory of the counters of commits and of announced batches. */
  commits: SharedArrayBuffer;
  announced: SharedArrayBuffer;
}

export type WriterCommand = { connect: MessagePort } | 'close';

/** What a thread needs to write. It can be sent to the thread, with its port in the list of transferred objects. */
export interface WriterConnection {
  port: MessagePort;
  /** Memory of the counters of commits and of announced batches, and of the room in the queues. */
  commits: SharedArrayBuffer;
  announced: SharedArrayBuffer;
  room: SharedArrayBuffer;
}

export class Writer {
  readonly #thread: Worker;
  readonly #ended: Promise<unknown>;
  readonly #shared: Omit<WriterConnection, 'port'>;

  private constructor(thread: Worker, shared: Omit<WriterConnection, 'port'>) {
    this.#thread = thread;
    this.#shared = shared;
    this.#ended = once(thread, 'exit'); // rejects if the thread fails
    this.#ended.catch(() => {}); // its connections report it, even if no caller closes the store
  }

  /** Resolves when the thread has opened the database. Throws if it cannot. */
  static async start(path: string, lockPath: string | undefined): Promise<Writer> {
    const commits = new CommitCounter().memory;
    const announced = new AnnouncedBatches().memory;
    const thread = new Worker(THREAD, {
      workerData: { path, lockPath, commits, announced } satisfies WriterData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    await once(thread, 'message');
    return new Writer(thread, { commits, announced, room: new QueueRoom().memory });
  }

  /** Returns a new connection, for this thread or for another one. */
  connect(): WriterConnection {
    const { port1, port2 } = new MessageChannel();
    this.#thread.postMessage({ connect: port2 } satisfies WriterCommand, [port2]);
    return { port: port1, ...this.#shared };
  }

  /** Closes the file. All connections must be closed. Throws if closing fails. */
  async close(): Promise<void> {
    this.#thread.postMessage('close' satisfies WriterCommand);
    await this.#ended;
  }
}
