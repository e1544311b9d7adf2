// The composition root: it builds the store and the pipeline from the config, listens, and closes everything in
// reverse order on stop. It never exits the process and handles no signals. Those are the caller's responsibility.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer, type Server as NetServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import ipaddr from 'ipaddr.js';
import packageJson from '../../package.json' with { type: 'json' };
import type { JwtOptions } from '../auth/jwt-verifier.ts';
import { type Config, describeDatabase } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import type { VerifyJwt } from '../http/access/authenticator.ts';
import { TIMEOUTS, type Timeouts } from '../http/core/timeouts.ts';
import { type Certificate, followCertificate, readCertificate } from '../http/core/tls.ts';
import { Pipeline } from '../http/pipeline.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { createBugReport } from '../observability/bug-report.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Observe } from '../observability/service-events.ts';
import type { Tracing } from '../observability/tracing.ts';
import { DeliveryLoop, type DeliveryOptions } from '../webhooks/delivery-loop.ts';
import { createReceiverClient } from '../webhooks/receiver-client.ts';
import { createTargetGuard } from '../webhooks/target-guard.ts';
import { openStore } from './open-store.ts';
import type { ScheduledBackups } from './scheduled-backups.ts';

export interface ServiceOptions {
  /** Receives every event of the service, for example to log it. */
  observe: Observe;
  /** Called once if the disk or the database file can no longer be trusted. The caller must stop the service. */
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

async function start(config: Config, options: ServiceOptions, cleanUp: AsyncDisposableStack): Promise<Service> {
  const { observe: log, onFailure } = options;
  const startedMs = Date.now();
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  let metrics: Metrics | undefined;
  const observe: Observe = (event) => {
    log(event);
    metrics?.observe(event);
  };
  for (const reason of config.warnings) observe({ kind: 'setting_ignored', reason });
  const node = randomUUID();
  const certificate = config.tls && (await readCertificate(config.tls));
  const tracing = await startTracing(config, node, observe);
  cleanUp.defer(() => tracing?.stop());
  const { database } = config;
  await prepareBackupFolder(config); // before a new store is created
  const { opened, isNewStore } = await openOrCreate(config, observe, onFailure);
  const store = tracing ? tracing.traceStore(opened) : opened;
  cleanUp.defer(() => store.close());
  metrics = createMetrics(store, observe);
  const backups = await openBackups(config, observe, cleanUp);
  const targetGuard = createTargetGuard({ allowPrivate: config.allowPrivateWebhooks });
  const receiverClient = createReceiverClient(targetGuard, createBugReport(observe));
  let delivery: DeliveryLoop | undefined;
  let delivered: Promise<void> | undefined;
  cleanUp.defer(() => delivered);
  const stopping = new AbortController();
  const { http } = new Pipeline({
    store,
    basePath: config.basePath,
    accessLog: config.accessLog,
    observe,
    tracing,
    metrics,
    facts: { version: packageJson.version, startedMs, database, jwtRate: config.jwt?.rate },
    webhooks: { targetGuard, receiverClient, onChange: () => delivery?.claim() },
    verifyJwt: config.jwt && (await startJwt(config.jwt, observe, cleanUp)),
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    loadMcp: async (shared) => (await import('../mcp/load.ts')).loadMcp({ store, ...shared }, packageJson.version),
    certificate,
    stopping: stopping.signal,
    timeouts,
    clock: Date.now,
  });
  const { server } = http;
  cleanUp.defer(() => new Promise((resolve) => server.close(() => resolve()))); // also closes idle connections
  if (config.tls && certificate && server instanceof TlsServer) {
    followCertificate(config.tls, certificate, server, { observe, everyMs: timeouts.certificateMs });
  }
  // If the database is unreachable, this read fails before the service listens.
  const isFirstStart = (await store.listTokens()).length === 0;
  const url = (await listen(server, config)) + config.basePath;
  delivery = new DeliveryLoop({
    store,
    receiverClient,
    node,
    observe: tracing ? observeWithBoth(observe, tracing.observe) : observe,
    ...options.delivery,
  });
  observe({ kind: 'listening', url, database: describeDatabase(database) });
  if (sendsPlainTokens(config, certificate, server)) observe({ kind: 'no_tls', host: config.host });
  backups?.start();
  let stopped: Promise<void> | undefined;
  return {
    url,
    store,
    isFirstStart,
    isNewStore,
    stop(reason) {
      stopped ??= stop(reason);
      return stopped;
    },
  };

  async function stop(reason: string): Promise<void> {
    observe({ kind: 'stopping', reason });
    const disconnect = setTimeout(() => server.closeAllConnections(), timeouts.disconnectMs).unref();
    await http.connections.stopListening();
    delivered = delivery?.stop();
    void backups?.stop();
    stopping.abort();
    if ((await openConnections(server)) > 0) await sleep(timeouts.lastRequestsMs);
    http.connections.endHandshakes();
    await cleanUp.disposeAsync();
    clearTimeout(disconnect);
    observe({ kind: 'stopped' });
  }
}

/** Opens the store. Reports a new one, which can be the result of a wrong folder. */
async function openOrCreate(
  config: Config,
  observe: Observe,
  onFailure: () => void,
): Promise<{ opened: Store; isNewStore: boolean }> {
  await requireAddress(config); // a start that fails must not create a store
  const { database } = config;
  const isNewStore = database.kind === 'sqlite' && !existsSync(database.path);
  const opened = await openStore(database, { role: 'server', observe, onFailure });
  if (isNewStore) observe({ kind: 'store_created', path: resolve(database.path) });
  return { opened, isNewStore };
}

/** Loads and starts tracing if it is configured. */
async function startTracing(
  { traces: config, database }: Config,
  node: string,
  observe: Observe,
): Promise<Tracing | undefined> {
  if (!config) return undefined;
  const { version } = packageJson;
  const { startTracing } = await import('../observability/otel/start-tracing.ts');
  return startTracing({ config, database: database.kind, version, node, observe });
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

/** Loads JWT support. Starts to read the keys now, so that the first request does not wait for them. */
async function startJwt(jwt: JwtOptions, observe: Observe, cleanUp: AsyncDisposableStack): Promise<VerifyJwt> {
  const [{ createJwtVerifier }, { createJwksClient }] = await Promise.all([
    import('../auth/jwt-verifier.ts'),
    import('../auth/jwks-client.ts'),
  ]);
  const jwksClient = createJwksClient({ ...jwt, observe });
  cleanUp.defer(jwksClient.stop);
  void jwksClient.keys();
  return createJwtVerifier(jwt, jwksClient);
}

/** Throws UserError if the service cannot listen on its address. Listening itself can still fail later. */
async function requireAddress(config: Config): Promise<void> {
  const probe = createServer();
  await listen(probe, config);
  probe.close();
  await once(probe, 'close');
}

async function listen(server: NetServer, { host, port, tls }: Config): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UserError(`Port ${port} on ${host} is in use. Set PORT or --port to another port.`);
    throw new UsageError(
      `Cannot listen on ${host} port ${port}: ${message}. Set HOST or --host, and PORT or --port, to an address of this machine.`,
    );
  }
  const address = server.address();
  const actualPort = typeof address === 'object' && address ? address.port : port;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${actualPort}`;
}

/** True if clients may send tokens in plain text over a network: no TLS, no trusted proxy, and not only loopback. */
function sendsPlainTokens({ trustProxy }: Config, certificate: Certificate | undefined, server: Server): boolean {
  if (certificate || trustProxy !== undefined) return false;
  const address = server.address();
  return !(typeof address === 'object' && address !== null && ipaddr.process(address.address).range() === 'loopback');
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
