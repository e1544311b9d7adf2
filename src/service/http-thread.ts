// Runs in a thread that serves requests beside the main thread: its own pipeline on the same port, its own connection
// for reads, and a connection to the one writer thread. On PostgreSQL, it has its own connections and write queue.

import { flushCompileCache } from 'node:module';
import { isatty } from 'node:tty';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { PlantStoreError } from '../domain/errors.ts';
import type { Summary } from '../domain/plant-summary.ts';
import { createSharedLimits } from '../http/access/shared-limits.ts';
import { askThread } from '../lib/ask-thread.ts';
import { cloneError } from '../lib/clone-error.ts';
import { SharedCount } from '../lib/shared-count.ts';
import { createBugReport } from '../observability/bug-report.ts';
import { ServiceCounts, type ThreadReport } from '../observability/service-counts.ts';
import type { Observe, ServiceEvent } from '../observability/service-events.ts';
import { createReceiverClient } from '../webhooks/receiver-client.ts';
import { createTargetGuard } from '../webhooks/target-guard.ts';
import { createHttpListener } from './http-listener.ts';
import type { FromThread, HttpThreadData, SummaryReply, ToThread } from './http-thread-messages.ts';
import { loadTracing } from './load-tracing.ts';
import { joinStore } from './open-store.ts';

/** Events that are only counted here, or that the main thread reports itself. */
const NOT_LOGGED: ServiceEvent['kind'][] = ['response', 'commit', 'certificate_renewed', 'certificate_unusable'];

if (!parentPort) throw new Error('http-thread.ts must run in a worker thread');
const main = parentPort;
const { config, certificate, address, join, limits, unwritten, startedMs, node, timeouts } =
  workerData as HttpThreadData;
const counts = new ServiceCounts();
const logInMain: Observe = (event) => send({ kind: 'event', event: toCloneable(event) });
const logRequest = await createRequestLog();
const observe: Observe = (event) => {
  counts.observe(event);
  if (event.kind === 'request' || event.kind === 'refused') logRequest?.(event);
  else if (!NOT_LOGGED.includes(event.kind)) logInMain(event);
};

const tracing = await loadTracing(config, node, observe, (change) => send({ kind: 'traced_change', change }));
const opened = await joinStore(join, {
  observe,
  onFailure: (error) => send({ kind: 'store_failed', error: cloneError(error) }),
});
const store = tracing ? tracing.traceStore(opened) : opened;
const targetGuard = createTargetGuard({ allowPrivate: config.allowPrivateWebhooks });
const receiverClient = createReceiverClient(targetGuard, createBugReport(observe));
const listener = await createHttpListener({
  ...{ config, store, tracing, observe, startedMs, timeouts },
  certificate,
  limits: createSharedLimits(limits),
  readThreads: (isScrape) => askThread<ThreadReport[]>(main, { kind: 'report_all', isScrape }),
  readSummary: async () => toSummary(await askThread<SummaryReply>(main, { kind: 'summary' })),
  webhooks: { targetGuard, receiverClient, onChange: (id) => askThread(main, { kind: 'webhook_changed', id }) },
});
let listening: Promise<unknown> | undefined;
main.on('message', (message: ToThread) => {
  if (message.kind === 'listen') listening = listen();
  else if (message.kind === 'stop_listening') void stopListening(message.reply);
  else if (message.kind === 'stop') void stop();
  else message.reply.postMessage(report(message.isScrape));
});
process.on('uncaughtException', (error) => send({ kind: 'failed', error: cloneError(error) }));
flushCompileCache(); // new code would otherwise be written when the thread ends, which takes up to 0.5 s
send({ kind: 'ready' });

/**
 * Returns an observer for events of single requests, if they are logged. Their lines are printed here, since the main
 * thread could not print those of all threads. On a terminal it must, because only it knows the width.
 */
async function createRequestLog(): Promise<Observe | undefined> {
  if (!config.accessLog && config.logLevel !== 'debug') return undefined;
  if (isatty(1)) return logInMain;
  const { createLineLog } = await import('../observability/log.ts');
  return createLineLog(config.logLevel, (text) => logInMain({ kind: 'lines', text }), new SharedCount(unwritten));
}

async function listen(): Promise<void> {
  await listener.listen(address);
  send({ kind: 'listening' });
}

function report(isScrape: boolean): ThreadReport {
  return counts.report(isScrape);
}

function send(message: FromThread): void {
  main.postMessage(message);
}

/** Returns the event with an error that can be sent. */
function toCloneable(event: ServiceEvent): ServiceEvent {
  return 'error' in event ? { ...event, error: cloneError(event.error) } : event;
}

function toSummary(reply: SummaryReply): Summary {
  if ('summary' in reply) return reply.summary;
  throw reply.code ? new PlantStoreError(reply.code, reply.error.message) : reply.error;
}

async function stopListening(reply: MessagePort): Promise<void> {
  await listening;
  await listener.stopListening();
  reply.postMessage(undefined);
}

async function stop(): Promise<void> {
  await listener.stop();
  receiverClient.close();
  await store.close();
  await tracing?.stop();
  if (tracing) await new Promise((resolve) => process.stdout.write('', resolve)); // the console exporter prints spans
  send({ kind: 'stopped', report: report(true) });
}
