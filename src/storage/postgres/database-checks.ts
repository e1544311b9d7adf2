// Checks that the database can store records durably, and finds the schema of the tables.

import type pg from 'pg';
import { UserError } from '../../lib/user-error.ts';
import { type Names, namesIn, RELATIONS } from './qualified-names.ts';
import type { SynchronousCommit } from './transaction.ts';

const MIN_VERSION = 14;

export interface ServerPromises {
  /** Major version of the server. */
  version: number;
  synchronousCommit: SynchronousCommit;
}

/** Result of the lookup through the session's search path. */
export interface FoundSchema {
  /** The schema for new objects. Null if the search path names no existing schema. */
  current_schema: string | null;
  /** Object id of the table that holds the schema version. */
  schema_table: number | null;
}

type Setting = 'encoding' | 'fsync' | 'synchronous_commit' | 'standbys' | 'replication_role' | 'exit_on_error';
/** Settings of the session, and the schema that its search path finds. */
export type SettingsRow = FoundSchema & { version_number: number } & Record<Setting, string>;

/** Throws UserError if the server could lose or change stored records. */
export async function requireSound(client: pg.Client): Promise<ServerPromises & FoundSchema> {
  return requireSoundSettings(await readSettings(client));
}

/**
 * Returns the settings of the session. This is the only statement that runs outside of a transaction of this service. It
 * resolves no name through the search path.
 */
export async function readSettings(client: pg.Client): Promise<SettingsRow> {
  const { rows } = await client.query<SettingsRow>(`
    SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4 AS version_number,
      pg_catalog.current_setting('server_encoding') AS encoding,
      pg_catalog.current_setting('fsync') AS fsync,
      pg_catalog.current_setting('synchronous_commit') AS synchronous_commit,
      pg_catalog.current_setting('synchronous_standby_names') AS standbys,
      pg_catalog.current_setting('session_replication_role') AS replication_role,
      pg_catalog.current_setting('exit_on_error') AS exit_on_error,
      pg_catalog.current_schema() AS current_schema,
      pg_catalog.to_regclass('plant_store_schema')::pg_catalog.oid AS schema_table`);
  return rows[0] as SettingsRow;
}

/** Throws UserError if a server with these settings could lose or change stored records. */
export function requireSoundSettings(settings: SettingsRow): ServerPromises & FoundSchema {
  const { version_number, encoding, fsync, synchronous_commit, standbys, replication_role, exit_on_error, ...found } =
    settings;
  const version = Math.floor(version_number / 10_000);
  if (version < MIN_VERSION)
    throw new UserError(`PostgreSQL ${version} is too old. Use version ${MIN_VERSION} or newer.`);
  if (encoding !== 'UTF8') {
    throw new UserError(
      `The encoding of the database is ${encoding}. Create a database with ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
  if (fsync === 'off' || synchronous_commit === 'off') {
    const setting = fsync === 'off' ? 'fsync' : 'synchronous_commit';
    throw new UserError(`${setting} is off in PostgreSQL, so a crash could lose stored records. Set it to on.`);
  }
  if (standbys !== '' && (synchronous_commit === 'local' || synchronous_commit === 'remote_write')) {
    throw new UserError(
      `synchronous_commit is ${synchronous_commit} in PostgreSQL although synchronous_standby_names is set, so a failover could lose stored records. Set synchronous_commit to on or remote_apply.`,
    );
  }
  if (replication_role !== 'origin' || exit_on_error !== 'off') {
    const [setting, value, wanted] =
      exit_on_error === 'off'
        ? ['session_replication_role', replication_role, 'origin']
        : ['exit_on_error', exit_on_error, 'off'];
    throw new UserError(`${setting} is ${value} in PostgreSQL for this database or role. Set it to ${wanted}.`);
  }
  return { version, synchronousCommit: synchronous_commit === 'remote_apply' ? 'remote_apply' : 'on', ...found };
}

/** Returns the names in the schema that holds the tables, or in which they will be created. */
export async function findNames(client: pg.Client, { current_schema, schema_table }: FoundSchema): Promise<Names> {
  const { rows } = await client.query<{ schema: string }>(
    'SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1',
    [schema_table],
  );
  const schema = rows[0]?.schema ?? current_schema;
  if (schema === null) {
    throw new UserError(
      'search_path in PostgreSQL names no existing schema. Create one, or set search_path to an existing schema.',
    );
  }
  return namesIn(schema);
}

/**
 * Throws UserError if tables or functions belong to other roles: their triggers, rules and bodies would run with the
 * rights of this service. A superuser counts as a member of every role, so its memberships are not checked.
 */
export async function requireOwn(client: pg.Client, { schema, signatures }: Names): Promise<void> {
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
  const { rows } = await client.query<{ object: string; owner: string }>(text, [schema, [...RELATIONS], signatures]);
  const [foreign] = rows;
  if (!foreign) return;
  throw new UserError(
    `${foreign.object} in the database belongs to the role ${foreign.owner}, whose code would run with the rights of this service. Drop it, or make the role of this service its owner.`,
  );
}
