// Creates connections to the database. When a node starts, checks the database and migrates its schema.

import pg from 'pg';
import { describeUrl } from '../../lib/describe-url.ts';
import { UserError } from '../../lib/user-error.ts';
import { findNames, requireOwn, requireSound, type ServerPromises } from './database-checks.ts';
import type { Names } from './qualified-names.ts';
import { isSchemaCurrent, migrate } from './schema.ts';
import { beginRead, beginWrite, noLimits } from './transaction.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** Idle time after which the operating system starts to check that the peer of a connection still responds. */
const KEEP_ALIVE_MS = 10_000;

/** Returns a client that is not connected yet. Throws if it cannot read a file that the URL names. */
export function createClient(url: string): pg.Client {
  const client = new pg.Client(clientConfig(url));
  client.on('error', ignoreError);
  return client;
}

export function createPool(url: string, poolSize: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(url), max: poolSize, pipeline: true } as pg.PoolConfig);
  pool.on('error', ignoreError); // the error of an idle connection: the pool opens another one
  pool.on('connect', (client) => client.on('error', ignoreError));
  return pool;
}

/** Ignores a connection error, which also rejects the pending queries. Without a listener it would end the process. */
function ignoreError(): void {}

function clientConfig(url: string): pg.ClientConfig {
  const { searchParams } = new URL(url);
  const isPlain = !searchParams.has('uselibpqcompat');
  // With this parameter, sslmode has the same meaning as in other clients.
  const connectionString = isPlain ? `${url}${url.includes('?') ? '&' : '?'}uselibpqcompat=true` : url;
  return {
    connectionString,
    fallback_application_name: 'plant-store',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** Value of `seq` in the table `copied` while a copy is in progress. */
export const COPY_IN_PROGRESS = -1n;

/** Properties of a checked database. */
export interface PreparedDatabase extends ServerPromises {
  names: Names;
}

/** Checks the database and migrates its schema. Throws UserError if the database cannot be used. */
export async function prepareDatabase(url: string, purpose: 'use' | 'copy' = 'use'): Promise<PreparedDatabase> {
  const name = describeUrl(url);
  const client = await connect(url, name);
  try {
    const { version, synchronousCommit, ...found } = await requireSound(client);
    const limits = noLimits(version);
    const [read, write] = [beginRead(limits), beginWrite(limits, synchronousCommit)];
    const names = await inTransaction(client, read, () => findNames(client, found));
    const isCurrent = await inTransaction(client, read, async () => {
      await requireOwn(client, names);
      return isSchemaCurrent(client, names);
    });
    if (!isCurrent) await inTransaction(client, write, () => migrate(client, names));
    const isKnown = await inTransaction(client, read, async () => {
      if (purpose === 'use') await requireWhole(client, names);
      return isKnownDatabase(client, names);
    });
    if (!isKnown) await inTransaction(client, write, () => client.query(`SELECT ${names.calls.note_database_1}`));
    return { names, version, synchronousCommit };
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`Cannot use ${name}: ${(error as Error).message}`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs `work` in a transaction. After an error, the caller must end the client, which ends the transaction. */
async function inTransaction<T>(client: pg.Client, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin);
  const result = await work();
  await client.query('COMMIT');
  return result;
}

async function connect(url: string, name: string): Promise<pg.Client> {
  try {
    const client = createClient(url);
    await client.connect();
    return client;
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof pg.DatabaseError) throw new UserError(`Cannot use ${name}: ${message}`);
    const needsPassword = code === undefined && message.startsWith('SASL') && new URL(url).password === '';
    throw new UserError(
      `Cannot reach ${name}: ${needsPassword ? 'it requires a password, but the URL has none' : message || code}. Check the URL, and that PostgreSQL is running.`,
    );
  }
}

async function requireWhole(client: pg.Client, { tables }: Names): Promise<void> {
  const { rows } = await client.query(`SELECT FROM ${tables.copied} WHERE seq = $1`, [COPY_IN_PROGRESS]);
  if (rows.length > 0) throw new UserError('A copy into this database is incomplete. Run "plant-store migrate" again.');
}

/** False for a copy of a database, which must not reuse change numbers. */
async function isKnownDatabase(client: pg.Client, { tables, calls }: Names): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM ${tables.database_identity} WHERE identity = ${calls.this_database_1}`,
  );
  return rows.length > 0;
}
