// Reads the schema version and runs migrations. Several nodes can run them concurrently.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { UserError } from '../../lib/user-error.ts';
import { type Names, SEARCH_PATH, type Tables } from './qualified-names.ts';

/** Key of the advisory lock that a node holds while it migrates the schema. */
const MIGRATION_LOCK = 0x504c_4e54_01;

/** All migrations. `worksWith` is the oldest schema version whose code also runs on this schema. */
const MIGRATIONS = readdirSync(join(import.meta.dirname, 'migrations'))
  .sort()
  .map((file) => {
    const sql = readFileSync(join(import.meta.dirname, 'migrations', file), 'utf8');
    return { sql, worksWith: Number(/^-- works with: (\d+)\n/.exec(sql)?.[1]) };
  });
/** Schema version that this code creates. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Migrates the schema. Must be called in a write transaction. */
export async function migrate(client: pg.Client, names: Names): Promise<void> {
  const { schema, tables } = names;
  await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  const version = await schemaVersion(client, names); // another node may have migrated it meanwhile
  if (version === 0) {
    await client.query(`
      CREATE TABLE ${tables.plant_store_schema} (
        version integer PRIMARY KEY, works_with integer NOT NULL, applied timestamptz NOT NULL DEFAULT now()
      )`);
  }
  for (const [at, { sql, worksWith }] of MIGRATIONS.entries()) {
    if (at < version) continue;
    await client.query(`SET LOCAL search_path = ${schema}, pg_temp`); // migrations create their objects there
    await client.query(sql);
    await client.query(`SET LOCAL search_path = ${SEARCH_PATH}`);
    await client.query(`INSERT INTO ${tables.plant_store_schema} (version, works_with) VALUES ($1, $2)`, [
      at + 1,
      worksWith,
    ]);
  }
}

/** Returns the schema version, or 0 without a schema. Throws UserError if this code does not support it. */
export async function schemaVersion(client: pg.Client, { tables }: Names): Promise<number> {
  const found = await client.query('SELECT FROM pg_class WHERE oid = to_regclass($1)', [tables.plant_store_schema]);
  if (found.rowCount === 0) return 0;
  const { rows } = await client.query<SchemaRow>(selectSchema(tables));
  const { version, works_with } = rows[0] as SchemaRow;
  if (works_with > SCHEMA_VERSION) throw new UserError(changedByNewer(version));
  return version;
}

/** The schema version, and the oldest version whose code runs on it. */
export interface SchemaRow {
  version: number;
  works_with: number;
}

export function selectSchema({ plant_store_schema }: Tables): string {
  return `SELECT coalesce(max(version), 0) AS version, coalesce(max(works_with), 0) AS works_with FROM ${plant_store_schema}`;
}

/**
 * Returns why a running node no longer supports the schema, if so: a newer version has migrated it, or a failover has
 * undone the migration.
 */
export function findUnsupported({ version, works_with }: SchemaRow): string | undefined {
  if (works_with > SCHEMA_VERSION) return changedByNewer(version);
  if (version >= SCHEMA_VERSION) return undefined;
  return `The database has an older schema than at the start (${version} instead of ${SCHEMA_VERSION}). Start the server again.`;
}

function changedByNewer(version: number): string {
  return `The database was changed by a newer version (schema ${version}, this version supports up to ${SCHEMA_VERSION}). Upgrade Plant Store.`;
}
