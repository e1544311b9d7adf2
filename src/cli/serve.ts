// The composition root: config → store → app → listen, and all of it backwards at the end.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server as TlsServer } from 'node:tls';
import ipaddr from 'ipaddr.js';
import packageJson from '../../package.json' with { type: 'json' };
import { type Config, describeDatabase, type JwtConfig } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import { issueToken, SCOPES } from '../domain/token.ts';
import type { VerifyJwt } from '../http/access/authenticator.ts';
import { endHandshakes, stopListening } from '../http/core/connection.ts';
import { followCertificate, readCertificate } from '../http/core/tls.ts';
import { createApp } from '../http/pipeline.ts';
import { Refusal } from '../lib/user-error.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Observe } from '../observability/service-events.ts';
import type { Traces } from '../observability/tracing.ts';
import { openStore } from '../service/open-store.ts';
import { type Delivery, startDelivery } from '../webhooks/delivery-loop.ts';
import { createAttempts } from '../webhooks/post-to-receiver.ts';
import { createTargets } from '../webhooks/target-guard.ts';
import { banner } from './banner.ts';

/** So long an idle connection may bring one more request: a client that is just sending sees no reset. */
const LAST_REQUESTS_MS = 500;
/** Then connections that are still open are cut off. */
const CUT_OFF_MS = 8000;
/** Then the process ends, whatever the disk is waiting for. */
const STOP_WITHIN_MS = 9500;
const ORPHAN_CHECK_MS = 500;
/** Some senders signal a process and its group, as timeout does: then it comes twice. A person needs longer for that. */
const ECHO_MS = 500;

export async function serve(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  let metrics: Metrics | undefined;
  const observe: Observe = (fact) => {
    log(fact);
    metrics?.observe(fact);
  };
  const node = randomUUID();
  process.on('uncaughtException', (error) => {
    observe({ kind: 'bug', error });
    process.exit(1);
  });

  let stoppingSinceMs: number | undefined;
  const draining = new AbortController();
  const { basePath, accessLog, trustProxy, corsOrigins } = config;
  const certificate = config.tls && (await readCertificate(config.tls));
  const traces = await startTraces(config, node, observe);
  const opened = await openStore(config.database, {
    role: 'server',
    observe,
    onFailure: () => stop('the store failed', 1),
  });
  const store = traces ? traces.ofStore(opened) : opened;
  metrics = createMetrics(store, observe);
  const targets = createTargets({ allowPrivate: config.allowPrivateWebhooks });
  const attempts = createAttempts(targets);
  let delivery: Delivery | undefined;
  const webhooks = { targets, attempts, onChange: () => delivery?.wake() };
  const server = createApp({
    store,
    basePath,
    accessLog,
    observe,
    traces,
    metrics,
    webhooks,
    verifyJwt: config.jwt && (await startJwt(config.jwt, observe)),
    trustProxy,
    corsOrigins,
    loadMcp: async () => (await import('../mcp/load.ts')).loadMcp(store, packageJson.version),
    certificate,
    stopping: draining.signal,
  });
  if (config.tls && certificate) followCertificate(config.tls, certificate, server as object as TlsServer, observe);
  for (const signal of onTerminal() ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => (isImpatient() ? endAtOnce() : stop(signal, 0)));
  }
  if (config.startedByNpm) onOrphaned(() => stop('npm ended', 0));
  const isFirstStart = (await store.listTokens()).length === 0; // now: who listens does not end for want of a database
  const address = await listen(server, config).catch(async (refusal) => {
    await store.close();
    throw refusal;
  });
  delivery = startDelivery({ store, attempts, node, observe: traces ? tellBoth(observe, traces.observe) : observe });
  const url = address + basePath;
  const database = describeDatabase(config.database);
  observe({ kind: 'listening', url, database });
  if (!certificate && trustProxy === undefined && !isLoopback(server)) observe({ kind: 'no_tls', host: config.host });
  await welcome(store, observe, { url, database, isFirstStart });

  function isImpatient(): boolean {
    return stoppingSinceMs !== undefined && performance.now() - stoppingSinceMs > ECHO_MS;
  }

  async function stop(reason: string, exitStatus: number): Promise<void> {
    if (stoppingSinceMs !== undefined) return;
    stoppingSinceMs = performance.now();
    observe({ kind: 'stopping', reason });
    setTimeout(() => server.closeAllConnections(), CUT_OFF_MS).unref();
    setTimeout(endAtOnce, STOP_WITHIN_MS).unref();
    if (exitStatus !== 0) setTimeout(() => process.exit(exitStatus), LAST_REQUESTS_MS).unref(); // the store has failed
    await stopListening(server);
    const delivered = delivery?.stop();
    draining.abort();
    if ((await openConnections(server)) > 0) await sleep(LAST_REQUESTS_MS);
    endHandshakes();
    await new Promise((resolve) => server.close(resolve)); // also ends connections that are idle
    await delivered;
    await store.close();
    await traces?.stop();
    observe({ kind: 'stopped' });
    process.exit(exitStatus);
  }
}

/** Loaded only where they are wanted. */
async function startTraces(
  { traces: config, database }: Config,
  node: string,
  observe: Observe,
): Promise<Traces | undefined> {
  if (!config) return undefined;
  const { version } = packageJson;
  return (await import('../observability/otel/traces.ts')).startTraces({
    config,
    database: database.kind,
    version,
    node,
    observe,
  });
}

function tellBoth(first: Observe, second: Observe): Observe {
  return (fact) => {
    first(fact);
    second(fact);
  };
}

/** Loaded only where it is wanted. The keys are read now, so that the first who comes need not wait. */
async function startJwt(jwt: JwtConfig, observe: Observe): Promise<VerifyJwt> {
  const [{ createVerifyJwt }, { createKeyServer }] = await Promise.all([
    import('../auth/jwt-verifier.ts'),
    import('../auth/jwks-client.ts'),
  ]);
  const keyServer = createKeyServer({ ...jwt, observe });
  void keyServer.keys();
  return createVerifyJwt(jwt, keyServer);
}

async function listen(server: Server, { host, port, tls }: Config): Promise<string> {
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw new Refusal(`Port ${port} of ${host} is in use: set PORT to another one`);
    throw new Refusal(`Cannot listen on ${host} port ${port}: ${message}`);
  }
  const address = server.address();
  const actualPort = typeof address === 'object' && address ? address.port : port;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls ? 'https' : 'http'}://${name}:${actualPort}`;
}

function isLoopback(server: Server): boolean {
  const address = server.address();
  return typeof address === 'object' && address !== null && ipaddr.process(address.address).range() === 'loopback';
}

/** process.exit() would wait for the writer, and the writer for the disk. Every commit survives it. */
function endAtOnce(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Under nohup there is none, and SIGHUP means nothing. */
function onTerminal(): NodeJS.WriteStream | undefined {
  return [process.stdout, process.stderr].find((stream) => stream.isTTY);
}

/** A secret goes to a terminal only: what is piped ends up in a file. */
async function welcome(
  store: Store,
  observe: Observe,
  { isFirstStart, ...facts }: { url: string; database: string; isFirstStart: boolean },
): Promise<void> {
  const terminal = onTerminal();
  if (!terminal) {
    if (isFirstStart) observe({ kind: 'no_token' });
    return;
  }
  const first = isFirstStart
    ? await issueToken(store, { name: 'first', scopes: [...SCOPES], expiresMs: null }, Date.now())
    : undefined;
  terminal.write(banner({ version: packageJson.version, ...facts, firstSecret: first?.secret }));
}

/** A signal to npm ends the shell between npm and us, which does not pass it on. */
function onOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS).unref();
}

function openConnections(server: Server): Promise<number> {
  return new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
}
