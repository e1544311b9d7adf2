// Starts the threads that serve requests beside the main thread, and connects them. The main thread keeps what exists
// once in a process: the writer thread, webhook delivery, backups and the service log.

import { extname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import type { Config } from '../config/config.ts';
import type { LimitsMemory } from '../http/access/shared-limits.ts';
import type { Timeouts } from '../http/core/timeouts.ts';
import { askThread } from '../lib/ask-thread.ts';
import type { ThreadReport } from '../observability/service-counts.ts';
import type { Observe, ServiceEvent } from '../observability/service-events.ts';
import type { Address } from './http-listener.ts';
import type { StoreShare } from './open-store.ts';

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./http-thread${extname(import.meta.filename)}`, import.meta.url);

/** What a thread needs to serve requests. */
export interface HttpThreadData {
  config: Config;
  address: Address;
  share: StoreShare;
  limits: LimitsMemory;
  startedMs: number;
  /** Id of this node. */
  node: string;
  timeouts: Timeouts;
}

/** Messages to a thread. It ends after `stop`. */
export type ToThread =
  | { kind: 'listen' }
  | { kind: 'stop' }
  | { kind: 'report'; isScrape: boolean; reply: MessagePort };

/** Messages of a thread. */
export type FromThread =
  /** Sent when it can listen. */
  | { kind: 'ready' }
  | { kind: 'listening' }
  | { kind: 'event'; event: ServiceEvent }
  | { kind: 'webhooks_changed' }
  | { kind: 'store_failed'; error: Error }
  /** Asks for the reports of all threads. */
  | { kind: 'report_all'; isScrape: boolean; reply: MessagePort };

export interface HttpThreadsOptions {
  count: number;
  /** Returns the data of one more thread. */
  toData(): HttpThreadData;
  /** Returns the reports of all threads. */
  readThreads(isScrape: boolean): Promise<ThreadReport[]>;
  observe: Observe;
  onWebhooksChanged(): void;
  onStoreFailed(error: Error): void;
}

/** State of a thread. Before it may listen, it can be ended at any time. */
interface ThreadState {
  step: 'starting' | 'may listen' | 'listening' | 'failed';
  ended: PromiseWithResolvers<void>;
}

export class HttpThreads {
  readonly #options: HttpThreadsOptions;
  /** All threads that have not ended. */
  readonly #threads = new Map<Worker, ThreadState>();
  #isStopping = false;

  /** Starts the threads. A thread that fails after its start throws an uncaught exception in this thread. */
  constructor(options: HttpThreadsOptions) {
    this.#options = options;
    for (let n = 0; n < options.count; n++) this.#start(options.toData());
  }

  /** Returns the reports of the threads that listen. */
  report(isScrape: boolean): Promise<ThreadReport[]> {
    const listening = [...this.#threads].filter(([, { step }]) => step === 'listening');
    return Promise.all(listening.map(([thread]) => askThread<ThreadReport>(thread, { kind: 'report', isScrape })));
  }

  /** Completes every request in progress, then ends all threads. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = [...this.#threads.values()].map((state) => state.ended.promise);
    for (const [thread, { step }] of this.#threads) {
      if (step === 'starting' || step === 'failed') void thread.terminate();
      else send(thread, { kind: 'stop' });
    }
    await Promise.all(ended);
  }

  #start(data: HttpThreadData): void {
    const thread = new Worker(THREAD, {
      workerData: data,
      transferList: data.share.kind === 'sqlite' ? [data.share.port] : [],
    });
    const state: ThreadState = { step: 'starting', ended: Promise.withResolvers() };
    this.#threads.set(thread, state);
    thread.on('message', (message: FromThread) => this.#receive(thread, state, message));
    thread.on('error', (error: Error) => this.#onFailure(state, error));
    thread.on('exit', () => {
      this.#threads.delete(thread);
      state.ended.resolve();
      if (!this.#isStopping) this.#onFailure(state, new Error('An HTTP thread ended unexpectedly'));
    });
  }

  /** Without a thread that cannot start, for example for lack of files, the service continues with fewer. */
  #onFailure(state: ThreadState, error: Error): void {
    if (state.step === 'listening') throw error;
    if (state.step !== 'failed') this.#options.observe({ kind: 'thread_not_started', error });
    state.step = 'failed';
  }

  #receive(thread: Worker, state: ThreadState, message: FromThread): void {
    const { count, observe, onStoreFailed, onWebhooksChanged, readThreads } = this.#options;
    switch (message.kind) {
      case 'ready':
        if (this.#isStopping) return;
        state.step = 'may listen';
        send(thread, { kind: 'listen' });
        return;
      case 'listening': {
        state.step = 'listening';
        const isAll = [...this.#threads.values()].every(({ step }) => step === 'listening');
        if (isAll) observe({ kind: 'threads_listening', threads: count + 1 });
        return;
      }
      case 'event':
        observe(message.event);
        return;
      case 'webhooks_changed':
        onWebhooksChanged();
        return;
      case 'store_failed':
        onStoreFailed(message.error);
        return;
      case 'report_all':
        void readThreads(message.isScrape).then(
          (reports) => message.reply.postMessage(reports),
          () => message.reply.close(), // a thread has ended
        );
    }
  }
}

function send(thread: Worker, message: ToThread): void {
  thread.postMessage(message);
}
