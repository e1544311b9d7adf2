// Runs the shared store cases on both databases. store-contract.long.test.ts runs them through a pooler and the client.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { makeFolder } from '../../testing/server.ts';
import { testStore } from '../../testing/store-cases.ts';
import { openPostgresStore } from './postgres/store.ts';
import { openSqliteStore } from './sqlite/store.ts';

const by = { tokenId: 'tok_1' };

testStore('the SQLite store', async () => {
  const store = await openSqliteStore({
    path: join(makeFolder(), 'plants.db'),
    role: 'server',
    observe: () => {},
    onFailure: () => assert.fail('the store failed'),
  });
  return { store, by, close: () => store.close() };
});

testStore(
  'the PostgreSQL store',
  async () => {
    const url = await makeDatabase();
    const store = await openPostgresStore({ url, poolSize: 10, statementTimeoutMs: 10_000, observe: () => {} });
    return { store, by, close: () => store.close() };
  },
  needsPostgres,
);
