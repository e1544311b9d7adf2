// Starts the writer thread and connects threads to it.

import { once } from 'node:events';
import { extname } from 'node:path';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { askThread } from '../../lib/ask-thread.ts';
import { SharedCount } from '../../lib/shared-count.ts';
import { UserError } from '../../lib/user-error.ts';
import type { Observe } from '../../observability/service-events.ts';
import { CommitCounter } from '../commit-counter.ts';
import { QueueRoom } from '../queue-room.ts';
import { AnnouncedBatches } from './announced-batches.ts';

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./writer-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects. The thread's objects live for one batch, so more memory gains nothing. */
const YOUNG_MIB = 6;

export interface WriterData {
  path: string;
  /** Path of the lock file. Only a server has one. */
  lockPath: string | undefined;
  memory: WriterMemory;
}

/** Memory that the writer and the threads share. */
export interface WriterMemory {
  /** Number of commits. */
  commits: SharedArrayBuffer;
  /** Number of times that the writer has ended all exports in progress. */
  endings: SharedArrayBuffer;
  /** Announced batches. */
  announced: SharedArrayBuffer;
  /** Room in the queues. */
  room: SharedArrayBuffer;
}

export type WriterCommand =
  | { connect: MessagePort; thread: number | undefined }
  | { fail: string }
  | { emptyWal: true; reply: MessagePort }
  | 'close';

/** A queue's connection to the writer. It can be sent to a thread, with its port as a transferred object. */
export interface WriterConnection {
  port: MessagePort;
  /** Number of the thread that announces its batches. Undefined if it does not, because each is committed alone. */
  thread: number | undefined;
  memory: WriterMemory;
}

/** What a thread needs to write: a connection for requests, and one for imports, which must not delay them. */
export interface WriterConnections {
  requests: WriterConnection;
  imports: WriterConnection;
}

export class Writer {
  readonly #thread: Worker;
  /** Resolves with the exit status of the thread. */
  readonly #ended: Promise<number[]>;
  readonly #memory: WriterMemory;
  #threads = 0;

  private constructor(thread: Worker, memory: WriterMemory) {
    this.#thread = thread;
    this.#memory = memory;
    this.#ended = once(thread, 'exit'); // rejects if the thread fails
    this.#ended.catch(() => {}); // its connections report it, even if no caller closes the store
  }

  /** Resolves when the thread has opened the database. Throws if it cannot. `observe` receives events of transactions. */
  static async start(path: string, lockPath: string | undefined, observe: Observe): Promise<Writer> {
    const memory = {
      commits: new CommitCounter().memory,
      endings: new SharedCount().memory,
      announced: new AnnouncedBatches().memory,
      room: new QueueRoom().memory,
    };
    const thread = new Worker(THREAD, {
      workerData: { path, lockPath, memory } satisfies WriterData,
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    await once(thread, 'message'); // it is ready
    thread.on('message', observe);
    return new Writer(thread, memory);
  }

  /** Returns new connections, for this thread or for another one. */
  connect(): WriterConnections {
    return { requests: this.#connect(this.#threads++), imports: this.#connect(undefined) };
  }

  #connect(thread: number | undefined): WriterConnection {
    const { port1, port2 } = new MessageChannel();
    this.#thread.postMessage({ connect: port2, thread } satisfies WriterCommand, [port2]);
    return { port: port1, thread, memory: this.#memory };
  }

  /** Ends all writes of all connections, because a thread found the disk or the file unreliable. */
  fail(message: string): void {
    this.#thread.postMessage({ fail: message } satisfies WriterCommand);
  }

  /**
   * Copies the WAL into the database file and empties it. All connections must be closed. Throws UserError if the disk or
   * a file failed. The caller must then exit the process, and keep a reader open until it ends: when the last connection
   * closes, SQLite would retry the failed sync and delete the WAL.
   */
  async emptyWal(): Promise<void> {
    const failure = await askThread<string | undefined>(this.#thread, { emptyWal: true });
    if (failure === undefined) return;
    this.#thread.unref(); // it stays, so that it does not close the file before the process ends
    throw new UserError(failure);
  }

  /** Closes the file. All connections must be closed. Throws if closing fails. */
  async close(): Promise<void> {
    this.#thread.postMessage('close' satisfies WriterCommand);
    const [status] = await this.#ended;
    if (status !== 0) throw new Error('The writer thread failed while it closed the file');
  }
}
