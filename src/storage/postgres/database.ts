// The database itself: a pool of connections to it, what it must be able to promise, and its schema, which several
// nodes may bring up to date at once.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describeUrl } from '../../lib/describe-url.ts';
import { UserError } from '../../lib/user-error.ts';
import { type Names, namesIn, RELATIONS, SEARCH_PATH } from './qualified-names.ts';
import { beginRead, beginWrite, noLimits, type SynchronousCommit } from './transaction.ts';

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

/** What the store has to know of its database. */
export interface Prepared {
  names: Names;
  /** Major version of the server. */
  version: number;
  synchronousCommit: SynchronousCommit;
}

/** Throws UserError. */
export async function prepareDatabase(url: string, purpose: 'use' | 'copy' = 'use'): Promise<Prepared> {
  const name = describeUrl(url);
  const client = await connect(url, name);
  try {
    const { version, synchronousCommit, ...found } = await requireSound(client);
    const limits = noLimits(version);
    const [read, write] = [beginRead(limits), beginWrite(limits, synchronousCommit)];
    const names = await inTransaction(client, read, () => findNames(client, found));
    const isCurrent = await inTransaction(client, read, async () => {
      await requireOwn(client, names);
      return (await schemaVersion(client, names)) >= MIGRATIONS.length;
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

/** Where the client ends after an error, so does the transaction. */
async function inTransaction<T>(client: pg.Client, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin);
  const result = await work();
  await client.query('COMMIT');
  return result;
}

async function connect(url: string, name: string): Promise<pg.Client> {
  let client: pg.Client;
  try {
    client = new pg.Client(clientConfig(url)); // reads the files that the URL names
    client.on('error', () => {});
    await client.connect();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof pg.DatabaseError) throw new UserError(`Cannot use ${name}: ${message}`);
    const asksForPassword = code === undefined && message.startsWith('SASL') && new URL(url).password === '';
    throw new UserError(
      `Cannot reach ${name}: ${asksForPassword ? 'it asks for a password, and the URL has none' : message || code}`,
    );
  }
  return client;
}

/** What this session finds through its own search path. */
interface Found {
  /** In which it would create objects. Null if its path names no schema that exists. */
  current_schema: string | null;
  /** The table with the version of the schema, by its number. */
  schema_table: number | null;
}

/** The one statement outside of a transaction of ours: nothing in it is found through the search path. */
async function requireSound(client: pg.Client): Promise<Omit<Prepared, 'names'> & Found> {
  const { rows } = await client.query(`
    SELECT pg_catalog.current_setting('server_version_num') AS version_number,
      pg_catalog.current_setting('server_encoding') AS encoding,
      pg_catalog.current_setting('fsync') AS fsync,
      pg_catalog.current_setting('synchronous_commit') AS synchronous_commit,
      pg_catalog.current_setting('synchronous_standby_names') AS standbys,
      pg_catalog.current_setting('session_replication_role') AS replication_role,
      pg_catalog.current_setting('exit_on_error') AS exit_on_error,
      pg_catalog.current_schema() AS current_schema,
      pg_catalog.to_regclass('plant_store_schema')::pg_catalog.oid AS schema_table`);
  const [{ version_number, encoding, fsync, synchronous_commit, standbys, replication_role, exit_on_error, ...found }] =
    rows;
  const version = Math.floor(version_number / 10_000);
  if (version < MIN_VERSION) throw new UserError(`PostgreSQL ${version} is too old: ${MIN_VERSION} or newer is needed`);
  if (encoding !== 'UTF8') {
    throw new UserError(
      `The encoding of the database is ${encoding}: make one with ENCODING 'UTF8' TEMPLATE template0`,
    );
  }
  if (fsync === 'off' || synchronous_commit === 'off') {
    const setting = fsync === 'off' ? 'fsync' : 'synchronous_commit';
    throw new UserError(`${setting} is off in PostgreSQL, so that a stored record could be lost: set it to on`);
  }
  if (standbys !== '' && (synchronous_commit === 'local' || synchronous_commit === 'remote_write')) {
    throw new UserError(
      `synchronous_commit is ${synchronous_commit} in PostgreSQL although synchronous_standby_names is set, so that a failover could lose a stored record: set synchronous_commit to on or remote_apply`,
    );
  }
  if (replication_role !== 'origin' || exit_on_error !== 'off') {
    const [setting, value, wanted] =
      exit_on_error === 'off'
        ? ['session_replication_role', replication_role, 'origin']
        : ['exit_on_error', exit_on_error, 'off'];
    throw new UserError(`${setting} is ${value} in PostgreSQL for this database or role: set it to ${wanted}`);
  }
  return { version, synchronousCommit: synchronous_commit === 'remote_apply' ? 'remote_apply' : 'on', ...found };
}

/** In the schema that has our tables, or is to have them. */
async function findNames(client: pg.Client, { current_schema, schema_table }: Found): Promise<Names> {
  const { rows } = await client.query(
    'SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1',
    [schema_table],
  );
  const schema = rows[0]?.schema ?? current_schema;
  if (schema === null) {
    throw new UserError('search_path in PostgreSQL names no schema that exists: create one, or set search_path to one');
  }
  return namesIn(schema);
}

/**
 * Refuses tables and functions of other roles, since their triggers, rules and bodies would run with our rights. A
 * superuser counts as a member of every role, so that its memberships say nothing.
 */
async function requireOwn(client: pg.Client, { schema, signatures }: Names): Promise<void> {
  const text = `
    SELECT ours.object, pg_get_userbyid(ours.owner) AS owner FROM (
      SELECT c.oid::regclass::text AS object, c.relowner AS owner FROM pg_class c
      WHERE c.relnamespace = $1::regnamespace AND c.relname = ANY ($2::name[])
      UNION ALL
      SELECT p.oid::regprocedure::text, p.proowner FROM pg_proc p
      WHERE p.oid = ANY (ARRAY(SELECT to_regprocedure(signature)::oid FROM unnest($3::text[]) AS own (signature)))
    ) AS ours
    JOIN pg_namespace n ON n.oid = $1::regnamespace
    JOIN pg_database d ON d.datname = current_database()
    JOIN pg_roles self ON self.rolname = current_user
    JOIN pg_roles other ON other.oid = ours.owner
    WHERE ours.owner NOT IN (self.oid, n.nspowner, d.datdba) AND NOT other.rolsuper
      AND (self.rolsuper OR NOT pg_has_role(ours.owner, 'MEMBER'))
    ORDER BY object LIMIT 1`;
  const { rows } = await client.query(text, [schema, [...RELATIONS], signatures]);
  if (rows.length === 0) return;
  const { object, owner } = rows[0];
  throw new UserError(
    `${object} in the database belongs to the role ${owner}, whose code would run with the rights of this service: drop it, or make the role of this service its owner`,
  );
}

async function requireWhole(client: pg.Client, { tables }: Names): Promise<void> {
  const { rows } = await client.query(`SELECT FROM ${tables.copied} WHERE seq = $1`, [UNDER_WAY]);
  if (rows.length > 0)
    throw new UserError('A copy into this database is not finished: run "plant-store migrate" again');
}

/** False in a copy of a database, in which the same numbers must not be given again. */
async function isKnownDatabase(client: pg.Client, { tables, calls }: Names): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM ${tables.database_identity} WHERE identity = ${calls.this_database_1}`,
  );
  return rows.length > 0;
}

async function migrate(client: pg.Client, names: Names): Promise<void> {
  const { schema, tables } = names;
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const version = await schemaVersion(client, names); // another node may have been first
  if (version === 0) {
    await client.query(`
      CREATE TABLE ${tables.plant_store_schema} (
        version integer PRIMARY KEY, works_with integer NOT NULL, applied timestamptz NOT NULL DEFAULT now()
      )`);
  }
  for (const [at, { sql, worksWith }] of MIGRATIONS.entries()) {
    if (at < version) continue;
    await client.query(`SET LOCAL search_path = ${schema}, pg_temp`); // where a migration creates its objects
    await client.query(sql);
    await client.query(`SET LOCAL search_path = ${SEARCH_PATH}`);
    await client.query(`INSERT INTO ${tables.plant_store_schema} (version, works_with) VALUES ($1, $2)`, [
      at + 1,
      worksWith,
    ]);
  }
}

/** 0 where there is none. Refuses one that this code does not fit. */
async function schemaVersion(client: pg.Client, { tables }: Names): Promise<number> {
  const there = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [tables.plant_store_schema]);
  if (there.rowCount === 0) return 0;
  const { rows } = await client.query(
    `SELECT coalesce(max(version), 0) AS version, coalesce(max(works_with), 0) AS works_with FROM ${tables.plant_store_schema}`,
  );
  const { version, works_with } = rows[0];
  if (works_with > MIGRATIONS.length) {
    throw new UserError(
      `The database was changed by a newer version (schema ${version}, this one knows ${MIGRATIONS.length}): upgrade Plant Store`,
    );
  }
  return version;
}
