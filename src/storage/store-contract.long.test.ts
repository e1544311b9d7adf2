// Runs the shared store cases through another program: a pooler in front of PostgreSQL, or HTTP in front of the store.

import { startPgBouncer } from '../../testing/pgbouncer.ts';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { needs } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { testStore } from '../../testing/store-cases.ts';
import { createClient } from '../client/client.ts';
import { openPostgresStore } from './postgres/store.ts';

testStore(
  'the PostgreSQL store behind PgBouncer in transaction mode',
  async () => {
    const { url, stop } = await startPgBouncer(await makeDatabase());
    const store = await openPostgresStore({ url, poolSize: 10, statementTimeoutMs: 10_000, observe: () => {} });
    return { store, by: { tokenId: 'tok_1' }, close: () => store.close().finally(stop) };
  },
  needsPostgres.skip ? needsPostgres : needs('pgbouncer'),
);

testStore('the client of a service', async () => {
  const { url, secret, tokenId, stop } = await startTestService();
  const client = createClient({ url, token: secret });
  return {
    store: { ...client, follow: (options) => inPages(client.follow(options)) },
    by: { tokenId },
    close: stop,
  };
});

/** Yields each item as a page of its own. */
async function* inPages<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  for await (const item of items) yield [item];
}
