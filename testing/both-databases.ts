// Runs the same tests on SQLite and on PostgreSQL.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite } from 'node:test';
import type { Store } from '../src/domain/store.ts';
import { openSqliteStore } from '../src/storage/sqlite/store.ts';
import { makeDatabase, needsPostgres, openPostgres } from './postgres.ts';
import { makeFolder } from './server.ts';

/** The name of each database, a function that returns the URL of an empty one, and the options of its suite. */
export const DATABASES = [
  ['SQLite', async () => undefined, {}], // a server under test then uses a new file
  ['PostgreSQL', makeDatabase, needsPostgres],
] as const;

/** Declares a suite for each database. `declareTests` receives a function that opens an empty store. */
export function onBothStores(title: string, declareTests: (open: () => Promise<Store>) => void): void {
  suite(`${title} on SQLite`, () => declareTests(openSqlite));
  suite(`${title} on PostgreSQL`, needsPostgres, () => declareTests(async () => openPostgres(await makeDatabase())));
}

function openSqlite(): Promise<Store> {
  const onFailure = () => assert.fail('the store failed');
  return openSqliteStore({ path: join(makeFolder(), 'plants.db'), role: 'server', observe: () => {}, onFailure });
}
