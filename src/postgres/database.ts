// The database itself: a pool of connections to it, what it must be able to promise, and its schema, which several
// nodes may bring up to date at once.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describeUrl } from '../config.ts';
import { Refusal } from '../refusal.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** A peer that went without a word is noticed by the system. */
const KEEP_ALIVE_MS = 10_000;
const MIN_VERSION = 14;
/** Held while the schema changes. */
const MIGRATION_LOCK = 0x504c_4e54_01;

interface Migration {
  sql: string;
  /** The oldest schema whose code runs on this one, too. */
  worksWith: number;
}

const MIGRATIONS: Migration[] = readdirSync(join(import.meta.dirname, 'migrations'))
  .sort()
  .map((file) => {
    const sql = readFileSync(join(import.meta.dirname, 'migrations', file), 'utf8');
    return { sql, worksWith: Number(/^-- works with: (\d+)\n/.exec(sql)?.[1]) };
  });

export function clientConfig(url: string): pg.ClientConfig {
  const { searchParams } = new URL(url);
  const isPlain = !searchParams.has('uselibpqcompat');
  const connectionString = isPlain ? `${url}${url.includes('?') ? '&' : '?'}uselibpqcompat=true` : url; // sslmode as everywhere else
  return {
    connectionString,
    fallback_application_name: 'plant-store',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

export function createPool(url: string, poolSize: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(url), max: poolSize, pipeline: true } as pg.PoolConfig);
  pool.on('error', () => {}); // an idle connection went: there will be another
  pool.on('connect', (client) => client.on('error', () => {})); // told to whoever is asking something
  return pool;
}

/** In the table `copied`, in place of a number. */
export const UNDER_WAY = -1n;

/** Throws Refusal. */
export async function prepareDatabase(url: string, purpose: 'use' | 'copy' = 'use'): Promise<void> {
  const name = describeUrl(url);
  const client = await connect(url, name);
  try {
    await requireSound(client);
    await migrate(client);
    if (purpose === 'use') await requireWhole(client);
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(`Cannot use ${name}: ${(error as Error).message}`);
  } finally {
    await client.end().catch(() => {});
  }
}

async function connect(url: string, name: string): Promise<pg.Client> {
  let client: pg.Client;
  try {
    client = new pg.Client(clientConfig(url)); // reads the files that the URL names
    client.on('error', () => {});
    await client.connect();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof pg.DatabaseError) throw new Refusal(`Cannot use ${name}: ${message}`);
    const asksForPassword = code === undefined && message.startsWith('SASL') && new URL(url).password === '';
    throw new Refusal(
      `Cannot reach ${name}: ${asksForPassword ? 'it asks for a password, and the URL has none' : message || code}`,
    );
  }
  return client;
}

async function requireSound(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    SELECT current_setting('server_version_num')::integer / 10000 AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit`);
  const [{ version, encoding, fsync, synchronous_commit }] = rows;
  if (version < MIN_VERSION) throw new Refusal(`PostgreSQL ${version} is too old: ${MIN_VERSION} or newer is needed`);
  if (encoding !== 'UTF8') {
    throw new Refusal(`The encoding of the database is ${encoding}: make one with ENCODING 'UTF8' TEMPLATE template0`);
  }
  if (fsync === 'off' || synchronous_commit === 'off') {
    const setting = fsync === 'off' ? 'fsync' : 'synchronous_commit';
    throw new Refusal(`${setting} is off in PostgreSQL, so that a stored record could be lost: set it to on`);
  }
}

async function requireWhole(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SELECT FROM copied WHERE seq = $1', [UNDER_WAY]);
  if (rows.length > 0) throw new Refusal('A copy into this database is not finished: run "plant-store migrate" again');
}

/** Reads only, where nothing is to be done. */
async function migrate(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`SELECT to_regclass('plant_store_schema') IS NOT NULL AS present`);
  if (rows[0].present && (await schemaVersion(client)) >= MIGRATIONS.length) return;
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE');
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  await client.query(`
    CREATE TABLE IF NOT EXISTS plant_store_schema (
      version integer PRIMARY KEY, works_with integer NOT NULL, applied timestamptz NOT NULL DEFAULT now()
    )`);
  const version = await schemaVersion(client); // another node may have been first
  for (const [at, { sql, worksWith }] of MIGRATIONS.entries()) {
    if (at < version) continue;
    await client.query(sql);
    await client.query('INSERT INTO plant_store_schema (version, works_with) VALUES ($1, $2)', [at + 1, worksWith]);
  }
  await client.query('COMMIT');
}

/** 0 where there is none. Refuses one that this code does not fit. */
async function schemaVersion(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    'SELECT coalesce(max(version), 0) AS version, coalesce(max(works_with), 0) AS works_with FROM plant_store_schema',
  );
  const { version, works_with } = rows[0];
  if (works_with > MIGRATIONS.length) {
    throw new Refusal(
      `The database was changed by a newer version (schema ${version}, this one knows ${MIGRATIONS.length}): upgrade Plant Store`,
    );
  }
  return version;
}
