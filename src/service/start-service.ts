// The composition root: config → store → pipeline → listen, and all of it backwards at the end. It never ends the process
// and listens to no signal: that is the business of whoever calls it.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
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
import { UserError } from '../lib/user-error.ts';
import { createBugReport } from '../observability/bug-report.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Observe } from '../observability/service-events.ts';
import type { Tracing } from '../observability/tracing.ts';
import { DeliveryLoop, type DeliveryOptions } from '../webhooks/delivery-loop.ts';
import { createReceiverClient } from '../webhooks/receiver-client.ts';
import { createTargetGuard } from '../webhooks/target-guard.ts';
import { openStore } from './open-store.ts';

export interface ServiceOptions {
  /** Receives every event of the service, such as to log it. */
  observe: Observe;
  /** Called once, when the disk or the database file can no longer be trusted: the service must be stopped. */
  onFailure(): void;
  /** Time-outs that differ from those of production. */
  timeouts?: Partial<Timeouts>;
  /** Clock and lease of webhook delivery, by default those of production. */
  delivery?: Pick<DeliveryOptions, 'clock' | 'leaseTiming'> | undefined;
}

export interface Service {
  /** Address with the base path. */
  url: string;
  store: Store;
  /** True if the database had no token when the service started. */
  isFirstStart: boolean;
  /** Responds to every request in progress, then closes everything. `reason` is logged. A second call waits for the first. */
  stop(reason: string): Promise<void>;
}

/** If the start fails, everything that it has opened so far is closed before the error is thrown. */
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
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  let metrics: Metrics | undefined;
  const observe: Observe = (event) => {
    log(event);
    metrics?.observe(event);
  };
  const node = randomUUID();
  const certificate = config.tls && (await readCertificate(config.tls));
  const tracing = await startTracing(config, node, observe);
  cleanUp.defer(() => tracing?.stop());
  const opened = await openStore(config.database, { role: 'server', observe, onFailure });
  const store = tracing ? tracing.traceStore(opened) : opened;
  cleanUp.defer(() => store.close());
  metrics = createMetrics(store, observe);
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
    webhooks: { targetGuard, receiverClient, onChange: () => delivery?.claim() },
    verifyJwt: config.jwt && (await startJwt(config.jwt, observe, cleanUp)),
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    loadMcp: async () => (await import('../mcp/load.ts')).loadMcp(store, packageJson.version),
    certificate,
    stopping: stopping.signal,
    timeouts,
    clock: Date.now,
  });
  const { server } = http;
  cleanUp.defer(() => new Promise((resolve) => server.close(() => resolve()))); // also ends idle connections
  if (config.tls && certificate && server instanceof TlsServer) {
    followCertificate(config.tls, certificate, server, { observe, everyMs: timeouts.certificateMs });
  }
  const isFirstStart = (await store.listTokens()).length === 0; // without a database the service does not listen
  const url = (await listen(server, config)) + config.basePath;
  delivery = new DeliveryLoop({
    store,
    receiverClient,
    node,
    observe: tracing ? tellBoth(observe, tracing.observe) : observe,
    ...options.delivery,
  });
  observe({ kind: 'listening', url, database: describeDatabase(config.database) });
  if (mayBeOverheard(config, certificate, server)) observe({ kind: 'no_tls', host: config.host });
  let stopped: Promise<void> | undefined;
  return {
    url,
    store,
    isFirstStart,
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
    stopping.abort();
    if ((await openConnections(server)) > 0) await sleep(timeouts.lastRequestsMs);
    http.connections.endHandshakes();
    await cleanUp.disposeAsync();
    clearTimeout(disconnect);
    observe({ kind: 'stopped' });
  }
}

/** Loads tracing only where it is configured. */
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

function tellBoth(first: Observe, second: Observe): Observe {
  return (event) => {
    first(event);
    second(event);
  };
}

/** Loads JWT support only where it is configured. Reads the keys now, so that the first request need not wait for them. */
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

async function listen(server: Server, { host, port, tls }: Config): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new UserError(`Port ${port} of ${host} is in use: set PORT to another one`);
    throw new UserError(`Cannot listen on ${host} port ${port}: ${message}`);
  }
  const address = server.address();
  const actualPort = typeof address === 'object' && address ? address.port : port;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${actualPort}`;
}

/** True if tokens travel in plain text beyond this machine, as far as the service knows. */
function mayBeOverheard({ trustProxy }: Config, certificate: Certificate | undefined, server: Server): boolean {
  if (certificate || trustProxy !== undefined) return false;
  const address = server.address();
  return !(typeof address === 'object' && address !== null && ipaddr.process(address.address).range() === 'loopback');
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
