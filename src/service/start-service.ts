// The composition root: it builds the store and the pipeline from the config, listens, and closes everything on stop.
// It never exits the process and handles no signals. Those are the caller's responsibility.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve } from 'node:path';
import { type Config, describeDatabase } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import { createSharedLimits, memoryOf } from '../http/access/shared-limits.ts';
import { TIMEOUTS, type Timeouts } from '../http/core/timeouts.ts';
import { readCertificate } from '../http/core/tls.ts';
import { createSummaryReader } from '../http/routes/cached-summary.ts';
import { isLocalHost } from '../lib/local-host.ts';
import { SharedCount } from '../lib/shared-count.ts';
import { createBugReport } from '../observability/bug-report.ts';
import { reportStatesOnce } from '../observability/report-states-once.ts';
import { ServiceCounts } from '../observability/service-counts.ts';
import type { Observe } from '../observability/service-events.ts';
import { DeliveryLoop, type DeliveryOptions } from '../webhooks/delivery-loop.ts';
import { createReceiverClient } from '../webhooks/receiver-client.ts';
import { createTargetGuard } from '../webhooks/target-guard.ts';
import { createHttpListener, requireFreeAddress } from './http-listener.ts';
import { HttpThreadPool } from './http-thread-pool.ts';
import { loadTracing } from './load-tracing.ts';
import { openSharedStore, type SharedStore } from './open-store.ts';
import type { ScheduledBackups } from './scheduled-backups.ts';

export interface ServiceOptions {
  /** Receives every event of the service, for example to log it. */
  observe: Observe;
  /** Called once if the service can no longer use its database. The caller must stop the service. */
  onFailure(): void;
  /** Timeouts that override the defaults, for tests. */
  timeouts?: Partial<Timeouts>;
  /** Clock and lease timing of webhook delivery that override the defaults, for tests. */
  delivery?: Pick<DeliveryOptions, 'clock' | 'leaseTiming'> | undefined;
}

export interface Service {
  /** URL of the service, including the base path. */
  url: string;
  store: Store;
  /** True if the database had no token when the service started. */
  isFirstStart: boolean;
  /** True if this start has created the file of a SQLite database. */
  isNewStore: boolean;
  /** Completes every request in progress, then closes everything. Logs `reason`. A second call waits for the first. */
  stop(reason: string): Promise<void>;
}

/** Starts the service. If the start fails, closes everything that was opened before it throws the error. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const cleanUp = new AsyncDisposableStack();
  try {
    return await start(config, options, cleanUp);
  } catch (error) {
    await cleanUp.disposeAsync();
    throw error;
  }
}

async function start(given: Config, options: ServiceOptions, cleanUp: AsyncDisposableStack): Promise<Service> {
  const { onFailure } = options;
  const startedMs = Date.now();
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const log = reportStatesOnce(options.observe);
  const counts = new ServiceCounts();
  const observe: Observe = (event) => {
    log(event);
    counts.observe(event);
  };
  const config = { ...given, threads: supportedThreads(given, observe) };
  const node = randomUUID();
  const certificate = config.tls && (await readCertificate(config.tls));
  const tracing = await loadTracing(config, node, observe);
  cleanUp.defer(() => tracing?.stop()); // after a start that failed
  await prepareBackupFolder(config); // before a new store is created
  const { opened, isNewStore } = await openOrCreate(config, observe, onFailure);
  const store = tracing ? tracing.traceStore(opened.store) : opened.store;
  cleanUp.defer(() => store.close());
  const backups = await openBackups(config, observe, cleanUp);
  const targetGuard = createTargetGuard({ allowPrivate: config.allowPrivateWebhooks });
  const receiverClient = createReceiverClient(targetGuard, createBugReport(observe));
  const limits = createSharedLimits();
  let delivery: DeliveryLoop | undefined;
  const onWebhookChange = (id?: string) => (id === undefined ? delivery?.claim() : delivery?.hold(id));
  const readSummary = createSummaryReader(store);
  const pool = new HttpThreadPool({
    ownReport: (isScrape) => counts.report(isScrape),
    ...{ readSummary, log, onWebhookChange, onStoreFailed: opened.fail, onNotStarted: opened.freeShare },
    onTracedChange: (change) => tracing?.noteChange(change),
  });
  const listener = await createHttpListener({
    ...{ config, store, limits, readSummary, certificate, tracing, observe, startedMs, timeouts },
    readThreads: (isScrape) => pool.report(isScrape),
    webhooks: { targetGuard, receiverClient, onChange: onWebhookChange },
  });
  cleanUp.defer(() => listener.close());
  // If the database is unreachable, this read fails before the service listens.
  const isFirstStart = (await store.listTokens({ limit: 1 })).length === 0;
  await requireFreeAddress(config); // again: the port of another server that started meanwhile could be shared
  const address = await listener.listen(config);
  const url = urlOf(config, address.port);
  delivery = new DeliveryLoop({
    ...{ store, receiverClient, node },
    observe: tracing ? observeWithBoth(observe, tracing.observe) : observe,
    ...options.delivery,
  });
  observe({ kind: 'listening', url, database: describeDatabase(config.database), threads: config.threads });
  if (sendsPlainTokens(config, listener.server)) observe({ kind: 'no_tls', host: config.host });
  backups?.start();
  pool.start(config.threads - 1, () => ({
    ...{ config, certificate, address, startedMs, node, timeouts },
    join: opened.toJoin(),
    limits: memoryOf(limits),
    unwritten: new SharedCount().memory,
  }));

  let stopped: Promise<void> | undefined;
  return {
    ...{ url, store, isFirstStart, isNewStore },
    stop(reason) {
      stopped ??= stop(reason);
      return stopped;
    },
  };

  async function stop(reason: string): Promise<void> {
    observe({ kind: 'stopping', reason });
    // First on all threads: a client whose connection one thread closes must not connect to another that closes next.
    await Promise.all([listener.stopListening(), pool.stopListening()]);
    await Promise.all([stopOwn(), pool.stop()]);
    await store.close();
    observe({ kind: 'stopped' });
  }

  /** Stops what runs in this thread. */
  async function stopOwn(): Promise<void> {
    await Promise.all([listener.stop(), delivery?.stop(), backups?.stop()]);
    receiverClient.close();
    await tracing?.stop(); // sends the last spans
  }
}

/** Returns the number of threads that can serve requests on this operating system. Reports ignored settings. */
function supportedThreads({ threads, warnings }: Config, observe: Observe): number {
  for (const reason of warnings) observe({ kind: 'setting_ignored', reason });
  if (threads === 1 || process.platform === 'linux') return threads;
  observe({ kind: 'one_thread', platform: process.platform });
  return 1;
}

/** Opens the store. Reports a new one, which can be the result of a wrong folder. */
async function openOrCreate(
  config: Config,
  observe: Observe,
  onFailure: () => void,
): Promise<{ opened: SharedStore; isNewStore: boolean }> {
  await requireFreeAddress(config); // a start that fails must not create a store
  const { database } = config;
  const isNewStore = database.kind === 'sqlite' && !existsSync(database.path);
  const opened = await openSharedStore(config, { role: 'server', observe, onFailure });
  if (isNewStore) observe({ kind: 'store_created', path: resolve(database.path) });
  return { opened, isNewStore };
}

/** Checks the folder of scheduled backups if they are configured. */
async function prepareBackupFolder({ backups: schedule, database }: Config): Promise<void> {
  if (!schedule || database.kind !== 'sqlite') return;
  const { prepareFolder } = await import('../storage/sqlite/backup-folder.ts');
  await prepareFolder({ dir: schedule.dir, database: database.path });
}

/** Opens scheduled backups if they are configured. They end before the store closes. */
async function openBackups(
  { backups: schedule, database }: Config,
  observe: Observe,
  cleanUp: AsyncDisposableStack,
): Promise<ScheduledBackups | undefined> {
  if (!schedule || database.kind !== 'sqlite') return undefined;
  const { ScheduledBackups } = await import('./scheduled-backups.ts');
  const backups = await ScheduledBackups.open({ schedule, database: database.path, observe });
  cleanUp.defer(() => backups.stop());
  return backups;
}

function observeWithBoth(first: Observe, second: Observe): Observe {
  return (event) => {
    first(event);
    second(event);
  };
}

function urlOf({ host, tls, basePath }: Config, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${port}${basePath}`;
}

/** True if clients may send tokens in plain text over a network: no TLS, no trusted proxy, and not only loopback. */
function sendsPlainTokens({ tls, trustProxy }: Config, server: Server): boolean {
  if (tls || trustProxy !== undefined) return false;
  const address = server.address();
  return !(typeof address === 'object' && address !== null && isLocalHost(address.address));
}
