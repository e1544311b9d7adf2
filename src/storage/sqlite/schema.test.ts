import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { digestSchema, migrate, SCHEMA_DIGEST } from './schema.ts';

test('SCHEMA_DIGEST is the digest of the schema that the migrations create', () => {
  const db = new DatabaseSync(':memory:');
  migrate(db);
  assert.equal(SCHEMA_DIGEST, digestSchema(db));
  db.close();
});
