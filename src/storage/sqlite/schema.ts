// Defines the schema: the migrations that create it, and the check that a file has no other one.

import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { UserError } from '../../lib/user-error.ts';
import { registerNameKey } from './name-order.ts';
import { pragma } from './pragma.ts';
import { indexText, nameText } from './search.ts';

const MIGRATIONS = readdirSync(join(import.meta.dirname, 'migrations'))
  .sort()
  .map((file) => readFileSync(join(import.meta.dirname, 'migrations', file), 'utf8'));
/** Schema version that this code writes. It supports no newer one. */
export const SCHEMA_VERSION = MIGRATIONS.length;
/** Digest of its schema. Without it, each start would build the schema to compare it, which takes 9 ms. */
export const SCHEMA_DIGEST = '30861aa2202ceafd7f105a86969a7f37a7cf0c1a21ee03e0302b670ccc026c9d';

export function migrate(db: DatabaseSync, version = SCHEMA_VERSION): void {
  // Migrations up to 0006 index no word for a missing tag. Migration 0007 adds it.
  db.function('index_text', { deterministic: true }, (name, tag) =>
    tag === null ? nameText(name as string) : indexText(name as string, tag as string),
  );
  registerNameKey(db);
  db.exec('BEGIN IMMEDIATE');
  for (const sql of MIGRATIONS.slice(Number(pragma(db, 'user_version')), version)) db.exec(sql);
  db.exec(`PRAGMA user_version = ${version}`);
  db.exec('COMMIT');
}

/**
 * Throws UserError if the schema is not the one of its version. With the rights of the service, a trigger, a cascade or a
 * conflict rule would change records, and a function in an index or a view would run.
 */
export function requireOwnSchema(db: DatabaseSync, path: string): void {
  if (digestSchema(db) === SCHEMA_DIGEST) return;
  const expected = buildSchema(Number(pragma(db, 'user_version')));
  const present = readSchema(db);
  for (const [object, sql] of present) {
    if (!expected.has(object)) throw oddSchema(path, `a foreign ${object}`);
    if (expected.get(object) !== sql) throw oddSchema(path, `another definition of the ${object}`);
  }
  for (const object of expected.keys()) if (!present.has(object)) throw oddSchema(path, `no ${object}`);
}

export function digestSchema(db: DatabaseSync): string {
  return hash('sha256', JSON.stringify([...readSchema(db)]));
}

function buildSchema(version: number): Map<string, string> {
  const db = new DatabaseSync(':memory:');
  migrate(db, version);
  const schema = readSchema(db);
  db.close();
  return schema;
}

/**
 * Returns the definitions by object, such as `view "x"`. A copy can lack the tables of SQLite itself, and ANALYZE adds some.
 * Blanks and quotes are left out, because SQLite writes some definitions.
 */
function readSchema(db: DatabaseSync): Map<string, string> {
  const rows = db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema WHERE type <> 'table' OR name NOT GLOB 'sqlite_*' ORDER BY type, name`,
    )
    .all() as { type: string; name: string; sql: string | null }[];
  return new Map(
    rows.map(({ type, name, sql }) => [`${type} ${JSON.stringify(name)}`, sql?.replace(/[ "'`[\]]/g, '') ?? '']),
  );
}

function oddSchema(path: string, finding: string): UserError {
  return new UserError(
    `The schema of ${path} has ${finding}. Nothing was changed. Undo this with SQL, or restore a backup.`,
  );
}
