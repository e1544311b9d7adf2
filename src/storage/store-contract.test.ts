// The same cases over every kind of store.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { startPgBouncer } from '../../testing/pgbouncer.ts';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { makeFolder, needs, query, startServer } from '../../testing/server.ts';
import { clear, STORE_CASES, type Tested } from '../../testing/store-cases.ts';
import { createClient } from '../client/client.ts';
import type { Store } from '../domain/store.ts';
import { openPostgresStore } from './postgres/store.ts';
import { openSqliteStore } from './sqlite/store.ts';

runOver('the SQLite store', async () => {
  const store = await openSqliteStore({
    path: join(makeFolder(), 'plants.db'),
    role: 'server',
    observe: () => {},
    onFailure: () => assert.fail('the store failed'),
  });
  return { store, by: { tokenId: 'tok_1' }, close: () => store.close() };
});

runOver(
  'the PostgreSQL store',
  async () => {
    const store = await openOnPostgres(await makeDatabase());
    return { store, by: { tokenId: 'tok_1' }, close: () => store.close() };
  },
  needsPostgres,
);

runOver(
  'the PostgreSQL store behind PgBouncer in transaction mode',
  async () => {
    const pooler = await startPgBouncer(await makeDatabase());
    const store = await openOnPostgres(pooler.url);
    return { store, by: { tokenId: 'tok_1' }, close: () => store.close().finally(pooler.stop) };
  },
  needsPostgres.skip ? needsPostgres : needs('pgbouncer'),
);

runOver('the client with a real server', async () => {
  const folder = makeFolder();
  const server = await startServer({ folder });
  const [token] = query(server.databasePath, 'SELECT id FROM tokens');
  const store = createClient({ url: server.url, token: server.secret });
  return { store, by: { tokenId: token?.id as string }, close: () => server.stop() };
});

function openOnPostgres(url: string): Promise<Store> {
  return openPostgresStore({ url, poolSize: 10, statementTimeoutMs: 10_000, observe: () => {} });
}

function runOver(
  name: string,
  open: () => Promise<Tested & { close(): Promise<unknown> }>,
  options: { skip?: string } = {},
): void {
  suite(name, options, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    before(async () => {
      opened = await open();
    });
    after(() => opened.close());
    for (const [title, run] of Object.entries(STORE_CASES)) {
      test(title, async () => {
        await clear(opened.store, opened.by);
        await run(opened);
      });
    }
  });
}
