// Tests of a service with several threads: limits, counts, changes and revocations hold for all of them together.

import assert from 'node:assert/strict';
import type { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASES } from '../../testing/both-databases.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { send } from '../../testing/request.ts';
import { startTestService } from '../../testing/service.ts';
import { THREADS, threadCases } from '../../testing/thread-cases.ts';
import { connectToEachThread, waitForThreads } from '../../testing/threads.ts';
import { until } from '../../testing/until.ts';

threadCases(DATABASES[0]); // http-thread-pool.long.test.ts tests the same on PostgreSQL

test('the threads of a node listen for the changes of other nodes over one connection', needsPostgres, async () => {
  const databaseUrl = await makeDatabase();
  const server = await startTestService({ env: { THREADS: String(THREADS) }, databaseUrl });
  await waitForThreads({ port: server.port, threads: THREADS });
  const count = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`;
  await until(async () => (await queryPostgres(databaseUrl, count))[0]?.count === 1);
  await server.stop();
});

test('GET /metrics returns sums that never decrease while the threads stop, and no request fails', async () => {
  const server = await startTestService({ env: { THREADS: String(THREADS) }, timeouts: { lastRequestsMs: 300 } });
  const { secret } = await server.addToken({ scopes: ['admin'] });
  const agents = await connectToEachThread(server.port, THREADS);
  const scraping = Promise.all(agents.slice(0, 2).map(scrape)); // the third thread has no connection, so it ends first
  agents[2]?.destroy();
  await sleep(200);
  await server.stop();
  for (const totals of await scraping) {
    assert.ok(totals.length > 2, `${totals.length} responses`);
    assert.deepEqual(
      totals,
      totals.toSorted((one, other) => one - other),
    );
  }
  assert.deepEqual(
    server.events.filter(({ kind }) => kind === 'bug'),
    [],
  );

  /** Returns the number of requests that each response reports, until the connection ends. */
  async function scrape(agent: Agent): Promise<number[]> {
    const totals: number[] = [];
    for (;;) {
      const headers = { authorization: `Bearer ${secret}` };
      const answer = await send(server.port, { path: '/metrics', headers, agent }).catch(() => undefined);
      if (!answer) return totals;
      assert.equal(answer.status, 200, answer.body);
      const counts = answer.body.matchAll(/^plant_store_requests_total{.*} (\d+)$/gm);
      totals.push(counts.reduce((sum, [, count]) => sum + Number(count), 0));
    }
  }
});

test('a stop closes the connections of a thread only when no other thread accepts new ones', async () => {
  const server = await startTestService({ env: { THREADS: String(THREADS) }, timeouts: { lastRequestsMs: 500 } });
  const agents = await connectToEachThread(server.port, THREADS);
  const statuses = Promise.all(agents.map(requestUntilClosed));
  const connecting = connectUntilRefused(); // as long as there are new connections, a thread continues to accept them
  await sleep(50);
  await server.stop();
  await connecting;
  assert.deepEqual(await statuses, Array(THREADS).fill('ECONNREFUSED'));

  /** Sends requests over one connection until a response announces its end. Returns the result of a new connection. */
  async function requestUntilClosed(agent: Agent): Promise<string> {
    let connection: string | undefined;
    do ({ connection } = (await send(server.port, { path: '/healthz', agent })).headers);
    while (connection !== 'close');
    return connectOnce();
  }

  async function connectUntilRefused(): Promise<void> {
    while ((await connectOnce()) !== 'ECONNREFUSED');
  }

  async function connectOnce(): Promise<string> {
    return send(server.port, { path: '/healthz' }).then(
      ({ status }) => String(status),
      (error) => error.code,
    );
  }
});
