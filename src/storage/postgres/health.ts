// Reads facts about a PostgreSQL server and its database for a diagnosis. It only reads, each time in a transaction of
// its own with a short timeout.

import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { isBehindPooler } from './change-notify.ts';
import { type Names, RELATIONS } from './qualified-names.ts';
import { beginRead, destroyWhenLate, limitsOf, socketOf } from './transaction.ts';

/** Timeout of a statement. The connection is closed after twice this time. */
const STATEMENT_TIMEOUT_MS = 5000;

export interface PostgresFacts {
  version: string;
  isStandby: boolean;
  fullPageWrites: boolean;
  walLevel: string;
  synchronousStandbyNames: string;
  /** Number of connected standbys. */
  standbys: number;
  synchronousStandbys: number;
  /** True if the role may not see which standbys are synchronous. */
  hidesStandbys: boolean;
  /** Number of connections that roles without special rights can use. */
  maxConnections: number;
  usedConnections: number;
}

export interface PostgresClock {
  /** Time of the server minus the time of this machine. */
  aheadMs: number;
  /** Maximum error of `aheadMs`: half of the time that the statement took. */
  errorMs: number;
}

export interface PostgresConnection {
  /** Address of the server, or undefined for a Unix socket. */
  address: string | undefined;
  encryption: 'none' | 'unverified' | 'verified';
  isPooled: boolean;
}

const FACTS = `
  SELECT split_part(current_setting('server_version'), ' ', 1) AS "version",
    pg_is_in_recovery() AS "isStandby",
    current_setting('full_page_writes') = 'on' AS "fullPageWrites",
    current_setting('wal_level') AS "walLevel",
    current_setting('synchronous_standby_names') AS "synchronousStandbyNames",
    (SELECT count(*)::int FROM pg_stat_replication) AS "standbys",
    (SELECT count(*)::int FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS "synchronousStandbys",
    EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IS NULL) AS "hidesStandbys",
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS "maxConnections",
    (SELECT sum(numbackends)::int FROM pg_stat_database) AS "usedConnections"`;

/** Tables of the schema that the role cannot read and write. */
const CLOSED_TABLES = `
  SELECT c.relname AS name FROM pg_class c
  WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($2::name[])
    AND NOT (has_schema_privilege(c.relnamespace, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')
      AND has_table_privilege(c.oid, 'DELETE'))
  ORDER BY name`;

/** Runs `read` in a read-only transaction. */
export async function inRead<T>(client: pg.Client, read: () => Promise<T>): Promise<T> {
  const work = async () => {
    await client.query(beginRead(limitsOf(STATEMENT_TIMEOUT_MS)));
    try {
      return await read();
    } finally {
      await client.query('ROLLBACK').catch(() => {}); // fails only on a lost connection, which `read` reports
    }
  };
  return destroyWhenLate(client, work(), 2 * STATEMENT_TIMEOUT_MS);
}

export async function readFacts(client: pg.Client): Promise<PostgresFacts> {
  const { rows } = await inRead(client, () => client.query<PostgresFacts>(FACTS));
  return rows[0] as PostgresFacts;
}

export async function readConnection(client: pg.Client): Promise<PostgresConnection> {
  const socket = socketOf(client);
  const isTls = socket instanceof TLSSocket;
  return {
    address: socket.remoteAddress,
    encryption: !isTls ? 'none' : socket.authorized ? 'verified' : 'unverified',
    isPooled: await isBehindPooler(client),
  };
}

/** Compares the clock of the server with the one of this machine. */
export async function compareClocks(client: pg.Client): Promise<PostgresClock> {
  return inRead(client, async () => {
    const sentMs = Date.now();
    const text = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS "nowMs"';
    const { rows } = await client.query<{ nowMs: number }>(text);
    const receivedMs = Date.now();
    return {
      aheadMs: Number(rows[0]?.nowMs) - (sentMs + receivedMs) / 2,
      errorMs: (receivedMs - sentMs) / 2,
    };
  });
}

/** Returns the time of the newest change, or undefined in a store without changes. */
export async function readNewestChange(client: pg.Client, { tables }: Names): Promise<number | undefined> {
  const text = `SELECT time::float8 AS "timeMs" FROM ${tables.changes} ORDER BY seq DESC LIMIT 1`;
  const { rows } = await inRead(client, () => client.query<{ timeMs: number }>(text));
  return rows[0]?.timeMs;
}

/** Returns the role, whether it can create objects in the schema, and the tables that it cannot use. */
export async function readRights(
  client: pg.Client,
  { schema }: Names,
): Promise<{ role: string; canCreate: boolean; closedTables: string[] }> {
  return inRead(client, async () => {
    const rights = await client.query<{ role: string; canCreate: boolean }>(
      `SELECT quote_ident(current_user) AS role, has_schema_privilege($1::regnamespace, 'CREATE') AS "canCreate"`,
      [schema],
    );
    const { role = '', canCreate = false } = rights.rows[0] ?? {};
    const closed = await client.query<{ name: string }>(CLOSED_TABLES, [schema, [...RELATIONS]]);
    return { role, canCreate, closedTables: closed.rows.map(({ name }) => name) };
  });
}
