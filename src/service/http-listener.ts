// One listener of the HTTP API: the pipeline, its address and its stop. Each thread that serves requests has one.

import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:tls';
import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import packageJson from '../../package.json' with { type: 'json' };
import type { JwtOptions } from '../auth/jwt-verifier.ts';
import type { Config } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import type { VerifyJwt } from '../http/access/authenticator.ts';
import type { SharedLimits } from '../http/access/shared-limits.ts';
import { tryToBind } from '../http/core/node-internals.ts';
import type { Timeouts } from '../http/core/timeouts.ts';
import { type Certificate, followCertificate } from '../http/core/tls.ts';
import { Pipeline } from '../http/pipeline.ts';
import type { ReadSummary } from '../http/routes/cached-summary.ts';
import { describeProcessUser } from '../lib/process-user.ts';
import { UsageError, UserError } from '../lib/user-error.ts';
import { createMetrics, type MetricsOptions } from '../observability/metrics.ts';
import type { Observe } from '../observability/service-events.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { WebhookTools } from '../webhooks/webhook-operations.ts';

interface HttpListenerOptions {
  config: Config;
  store: Store;
  limits: SharedLimits;
  /** Returns the reports of all threads. */
  readThreads: MetricsOptions['readThreads'];
  /** Returns the summary that all threads share. */
  readSummary: ReadSummary;
  certificate: Certificate | undefined;
  webhooks: WebhookTools;
  tracing: Tracing | undefined;
  observe: Observe;
  /** Time at which the process started. */
  startedMs: number;
  timeouts: Timeouts;
}

/** Address of a listener. */
export interface Address {
  host: string;
  port: number;
}

export interface HttpListener {
  server: Server;
  /** Starts to listen. Returns the address in numbers. Throws UserError if it is not free. */
  listen(address: Address): Promise<Address>;
  /** Stops listening and reading requests. The connections stay open, but not for longer than a stop may take. */
  stopListening(): Promise<void>;
  /** Completes every request in progress, then closes all connections. Call it when no thread listens any more. */
  stop(): Promise<void>;
  /** Closes the listener, after `stop` or if it never listened. */
  close(): Promise<void>;
}

/** Creates a listener that does not listen yet. */
export async function createHttpListener(options: HttpListenerOptions): Promise<HttpListener> {
  const { config, store, certificate, observe, startedMs, timeouts } = options;
  const { database, tls, jwt } = config;
  const keys = jwt && (await startJwt(jwt, observe));
  const stopping = new AbortController();
  const clock = Date.now;
  const { http } = new Pipeline({
    store,
    basePath: config.basePath,
    accessLog: config.accessLog,
    observe,
    tracing: options.tracing,
    metrics: createMetrics({ store, readThreads: options.readThreads, observe, clock }),
    limits: options.limits,
    readSummary: options.readSummary,
    facts: { version: packageJson.version, startedMs, database, jwtRate: jwt?.rate },
    webhooks: options.webhooks,
    verifyJwt: keys?.verifyJwt,
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    loadMcp: async (shared) => (await import('../mcp/load.ts')).loadMcp({ store, ...shared }, packageJson.version),
    certificate,
    stopping: stopping.signal,
    timeouts,
    clock,
  });
  const { server, connections } = http;
  if (tls && certificate) {
    followCertificate(tls, certificate, server as Server & TlsServer, { observe, everyMs: timeouts.certificateMs });
  }

  let disconnect: NodeJS.Timeout | undefined;
  const close = async () => {
    await new Promise((resolve) => server.close(resolve)); // also closes idle connections
    keys?.stop();
  };
  return {
    server,
    close,
    listen: (address) => listen(server, address, config.threads > 1),
    stopListening() {
      disconnect = setTimeout(() => connections.destroyAll(), timeouts.disconnectMs).unref();
      return connections.stopListening();
    },
    async stop() {
      stopping.abort();
      connections.readAgain();
      if ((await openConnections(server)) > 0) await sleep(timeouts.lastRequestsMs);
      await connections.closeIdle();
      await close();
      clearTimeout(disconnect);
    },
  };
}

/** Loads JWT support. Starts to read the keys now, so that the first request does not wait for them. */
async function startJwt(jwt: JwtOptions, observe: Observe): Promise<{ verifyJwt: VerifyJwt; stop(): void }> {
  const [{ createJwtVerifier }, { createJwksClient }] = await Promise.all([
    import('../auth/jwt-verifier.ts'),
    import('../auth/jwks-client.ts'),
  ]);
  const jwksClient = createJwksClient({ ...jwt, observe });
  void jwksClient.keys();
  return { verifyJwt: createJwtVerifier(jwt, jwksClient), stop: jwksClient.stop };
}

/** Throws UserError if no server can listen on the address. Opens no port. Listening itself can still fail later. */
export async function requireFreeAddress(address: Address): Promise<void> {
  const { host, port } = address;
  const found = await lookup(host).catch((error) => {
    throw toUserError(error, address);
  });
  const error = tryToBind(found.address, port, found.family);
  if (error < 0) throw toUserError({ code: getSystemErrorName(error), message: getSystemErrorMessage(error) }, address);
}

/** Starts to listen. `reusePort` allows other threads to listen on the same port. */
async function listen(server: NetServer, { host, port }: Address, reusePort: boolean): Promise<Address> {
  try {
    server.listen({ host, port, reusePort });
    await once(server, 'listening');
  } catch (error) {
    throw toUserError(error as NodeJS.ErrnoException, { host, port });
  }
  const { address, port: actualPort } = server.address() as AddressInfo;
  return { host: address, port: actualPort };
}

function toUserError({ code, message }: { code?: string; message: string }, { host, port }: Address): UserError {
  if (code === 'EADDRINUSE')
    return new UserError(`Port ${port} on ${host} is in use. Set PORT or --port to another port.`);
  if (code === 'EACCES')
    return new UsageError(
      `The system does not permit ${describeProcessUser()} to listen on port ${port}. Ports below 1024 require root or the capability CAP_NET_BIND_SERVICE. Set PORT or --port to another port, such as 8080, or use a reverse proxy.`,
    );
  return new UsageError(
    `Cannot listen on ${host} port ${port}: ${message}. Set HOST or --host, and PORT or --port, to an address of this machine.`,
  );
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
