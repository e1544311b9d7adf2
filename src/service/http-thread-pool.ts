// Starts the threads that serve requests beside the main thread, and connects them. What exists once in a process stays
// in the main thread: delivery of webhooks, backups, the summary, the order by name and the service log.

import { extname } from 'node:path';
import { type MessagePort, Worker } from 'node:worker_threads';
import { PlantStoreError } from '../domain/errors.ts';
import type { ReadSummary } from '../http/routes/cached-summary.ts';
import { askThread } from '../lib/ask-thread.ts';
import { cloneError } from '../lib/clone-error.ts';
import { SharedCount } from '../lib/shared-count.ts';
import type { ThreadReport } from '../observability/service-counts.ts';
import type { Observe } from '../observability/service-events.ts';
import type { TracedChange } from '../observability/tracing.ts';
import type { FromThread, HttpThreadData, SummaryReply, ToThread } from './http-thread-messages.ts';

/** The thread's file has the same extension as this file: `.js` in a package, `.ts` in the source tree. */
const THREAD = new URL(`./http-thread${extname(import.meta.filename)}`, import.meta.url);

/** Limit on memory for short-lived objects, three times the semi-space of the main thread. */
const YOUNG_MIB = 24;

export interface HttpThreadPoolOptions {
  /** Returns the report of the main thread. */
  ownReport(isScrape: boolean): ThreadReport;
  readSummary: ReadSummary;
  /** Receives the events of the threads, which have counted them. */
  log: Observe;
  onWebhookChange(id?: string): void;
  onTracedChange(change: TracedChange): void;
  onStoreFailed(error: Error): void;
  onNotStarted(): void;
}

/** State of a thread. While it is `starting`, it has no connections, so it can be terminated. */
interface ThreadState {
  step: 'starting' | 'may listen' | 'listening' | 'failed' | 'ended';
  ended: PromiseWithResolvers<void>;
  /** Its last report, with which its counts stay in the sums. */
  report?: ThreadReport;
}

export class HttpThreadPool {
  readonly #options: HttpThreadPoolOptions;
  readonly #threads = new Map<Worker, ThreadState>();
  #isStopping = false;

  constructor(options: HttpThreadPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts threads. `toData` returns the data of one more. A thread that fails after its start throws an uncaught
   * exception in this thread.
   */
  start(count: number, toData: () => HttpThreadData): void {
    for (let n = 0; n < count; n++) this.#start(toData());
    this.#reportIfAllStarted();
  }

  /** Returns the reports of the main thread, of those that listen, and the last ones of those that have ended. */
  async report(isScrape: boolean): Promise<ThreadReport[]> {
    const reports = await Promise.all([...this.#threads].map(([thread, state]) => readReport(thread, state, isScrape)));
    return [this.#options.ownReport(isScrape), ...reports.filter((report) => report !== undefined)];
  }

  /** Ends the threads that have not started, and stops listening on all others. */
  async stopListening(): Promise<void> {
    this.#isStopping = true;
    const stopping = [...this.#threads].map(([thread, { step }]) => {
      if (step !== 'may listen' && step !== 'listening') return thread.terminate(); // it has no connections
      return askThread(thread, { kind: 'stop_listening' }).catch(() => {}); // it has ended meanwhile
    });
    await Promise.all(stopping);
  }

  /** Completes every request in progress, then ends all threads. */
  async stop(): Promise<void> {
    for (const thread of this.#threads.keys()) send(thread, { kind: 'stop' });
    await Promise.all([...this.#threads.values()].map((state) => state.ended.promise));
  }

  #start(data: HttpThreadData): void {
    const { join } = data;
    const ports = join.kind === 'sqlite' ? [join.requests.port, join.imports.port] : [];
    let thread: Worker;
    try {
      thread = new Worker(THREAD, {
        workerData: data,
        resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB },
        transferList: ports,
      });
    } catch (error) {
      for (const port of ports) port.close();
      this.#reportNotStarted(error as Error); // the system allows no further thread
      return;
    }
    const state: ThreadState = { step: 'starting', ended: Promise.withResolvers() };
    const unwritten = new SharedCount(data.unwritten);
    this.#threads.set(thread, state);
    thread.on('message', (message: FromThread) => this.#receive(thread, state, message, unwritten));
    thread.on('error', (error: Error) => this.#onFailure(state, error));
    thread.on('exit', () => {
      if (!this.#isStopping) this.#onFailure(state, new Error('An HTTP thread ended unexpectedly'));
      state.step = 'ended';
      state.ended.resolve();
    });
  }

  /** Without a thread that cannot start, for example for lack of files, the service continues with fewer. */
  #onFailure(state: ThreadState, error: Error): void {
    if (state.step === 'listening') throw error;
    if (state.step === 'failed') return;
    this.#reportNotStarted(error);
    state.step = 'failed';
    this.#reportIfAllStarted();
  }

  #reportNotStarted(error: Error): void {
    this.#options.log({ kind: 'thread_not_started', error });
    this.#options.onNotStarted();
  }

  #reportIfAllStarted(): void {
    const steps = [...this.#threads.values()].map(({ step }) => step);
    if (this.#isStopping || steps.includes('starting') || steps.includes('may listen')) return;
    const threads = 1 + steps.filter((step) => step === 'listening').length;
    this.#options.log({ kind: 'threads_listening', threads });
  }

  #receive(thread: Worker, state: ThreadState, message: FromThread, unwritten: SharedCount): void {
    const { log, onStoreFailed, onWebhookChange, onTracedChange, readSummary } = this.#options;
    switch (message.kind) {
      case 'ready':
        if (this.#isStopping) return;
        state.step = 'may listen';
        send(thread, { kind: 'listen' });
        return;
      case 'listening':
        state.step = 'listening';
        this.#reportIfAllStarted();
        return;
      case 'event':
        log(message.event);
        if (message.event.kind === 'lines') unwritten.add(-message.event.text.length);
        return;
      case 'traced_change':
        onTracedChange(message.change);
        return;
      case 'webhook_changed':
        onWebhookChange(message.id);
        message.reply.postMessage(undefined);
        return;
      case 'store_failed':
        onStoreFailed(message.error);
        return;
      case 'report_all':
        void this.report(message.isScrape).then(
          (reports) => message.reply.postMessage(reports),
          () => message.reply.close(), // the request of that thread then fails
        );
        return;
      case 'summary':
        void replyWithSummary(readSummary, message.reply);
        return;
      case 'failed':
        this.#onFailure(state, message.error);
        void thread.terminate();
        return;
      case 'stopped':
        state.report = message.report;
        void thread.terminate();
    }
  }
}

function send(thread: Worker, message: ToThread): void {
  thread.postMessage(message);
}

async function readReport(thread: Worker, state: ThreadState, isScrape: boolean): Promise<ThreadReport | undefined> {
  if (state.report || state.step !== 'listening') return state.report;
  return askThread<ThreadReport>(thread, { kind: 'report', isScrape }).catch(() => state.report); // it has stopped meanwhile
}

async function replyWithSummary(readSummary: ReadSummary, reply: MessagePort): Promise<void> {
  const toReply = (error: unknown): SummaryReply => ({
    code: error instanceof PlantStoreError ? error.code : undefined,
    error: cloneError(error),
  });
  reply.postMessage(await readSummary().then((summary): SummaryReply => ({ summary }), toReply));
}
