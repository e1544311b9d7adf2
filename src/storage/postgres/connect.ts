// Opens connections to the first suitable server of a database URL. Each new connection starts with the first server
// again, so that after a failover it finds the new primary.

import { userInfo } from 'node:os';
import pg from 'pg';
import {
  type ConnectionUrl,
  describeHost,
  type Host,
  parseConnectionUrl,
  type Target,
  toDriverUrl,
} from './connection-url.ts';
import { destroyWhenLate } from './transaction.ts';

/** Idle time after which the operating system starts to check that the peer of a connection still responds. */
const KEEP_ALIVE_MS = 10_000;
/** Classes of SQLSTATE with which a server refuses a connection that another server may accept. */
const NEXT_SERVER = /^(08|53|57)/;

pg.defaults.user = findSystemUser() ?? pg.defaults.user; // as in libpq, without PGUSER and without a user in the URL

/**
 * Returns a connected client. `maxTimeoutMs` limits the timeout in the URL. Throws the error of the driver, or an Error
 * that lists the error of each server.
 */
export async function connectClient(url: string, maxTimeoutMs = Number.POSITIVE_INFINITY): Promise<pg.Client> {
  const given = parseConnectionUrl(url);
  const parsed = { ...given, connectTimeoutMs: Math.min(given.connectTimeoutMs, maxTimeoutMs) };
  const failures: string[] = [];
  for (const host of parsed.hosts) {
    const client = new QuietClient(toConfig(parsed, host)); // reads the files named in the URL, which may fail
    try {
      await client.connect();
      await destroyWhenLate(client, requireTarget(client, parsed.target), parsed.connectTimeoutMs);
      return client;
    } catch (error) {
      client.end().catch(() => {});
      if (parsed.hosts.length === 1 || !mayOtherAccept(error)) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      failures.push(`${describeHost(host)}: ${message || code}`);
    }
  }
  throw new Error(failures.join('; '));
}

/** Returns a pool whose connections each choose their server. `maxConnections` is read before each new connection. */
export function createPool(url: string, maxConnections: () => number): pg.Pool {
  const parsed = parseConnectionUrl(url);
  const { hosts, target, connectTimeoutMs } = parsed;
  const isPlain = hosts.length === 1 && target === 'any';
  const pool = new pg.Pool({
    ...toConfig(parsed, hosts[0]),
    Client: isPlain ? QuietClient : choosingClient(url),
    connectionTimeoutMillis: connectTimeoutMs * (isPlain ? 1 : hosts.length + 1),
    pipeline: true,
  } as pg.PoolConfig);
  Object.defineProperty(pool.options, 'max', { get: maxConnections });
  pool.on('error', ignoreError); // the error of an idle connection: the pool opens another one
  return pool;
}

/**
 * A client that ignores errors of its connection, which also reject the pending queries. The listener is there from the
 * start: a server can end a connection in the packet that opens it, before the caller has the client.
 */
class QuietClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', ignoreError);
  }
}

/**
 * Returns a class of clients that choose their server when they connect. A client cannot connect twice, so it finds the
 * server with a connection of its own, which it closes.
 */
function choosingClient(url: string): typeof pg.Client {
  return class extends QuietClient {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const connected = this.choose().then(() => super.connect());
      if (!callback) return connected;
      connected.then(() => callback(undefined as unknown as Error), callback);
      return undefined;
    }

    private async choose(): Promise<void> {
      const found = await connectClient(url);
      const { host, port, password } = found;
      Object.assign(this, { host, port, password });
      found.end().catch(() => {});
    }
  };
}

function toConfig(url: ConnectionUrl, host: Host): pg.ClientConfig {
  return {
    connectionString: toDriverUrl(url, host),
    fallback_application_name: 'plant-store',
    connectionTimeoutMillis: url.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** Throws if the server does not meet the requirement of the URL. */
async function requireTarget(client: pg.Client, target: Target): Promise<void> {
  if (target === 'any') return;
  const { rows } = await client.query<{ is_standby: boolean; read_only: string }>(
    `SELECT pg_catalog.pg_is_in_recovery() AS is_standby,
            pg_catalog.current_setting('default_transaction_read_only') AS read_only`,
  );
  const [{ is_standby, read_only } = { is_standby: true, read_only: 'on' }] = rows;
  if (is_standby) throw new Error('the server is a standby');
  if (target === 'read-write' && read_only === 'on') throw new Error('the server is read-only');
}

/** True if another server may accept the connection. As in libpq, a wrong password ends the attempts. */
function mayOtherAccept(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || NEXT_SERVER.test(error.code ?? '');
}

/** Ignores an error that would end the process if its event had no listener. */
function ignoreError(): void {}

function findSystemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    return undefined; // a container can run as a user id without a name
  }
}
