// Tests of a service with several threads: limits, counts, changes and revocations hold for all of them together.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Agent, get, type IncomingMessage } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASES } from '../../testing/both-databases.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { type Answer, send } from '../../testing/request.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { connectToEachThread, waitForThreads } from '../../testing/threads.ts';
import { quickEnough, until } from '../../testing/until.ts';
import { SCOPES } from '../domain/names.ts';

const THREADS = 3;

for (const [name, makeDatabase, options] of DATABASES) {
  suite(`three threads on ${name}`, options, () => {
    let server: TestService;
    let admin: { id: string; secret: string };
    let agents: Agent[];
    before(async () => {
      const databaseUrl = await makeDatabase();
      const env = { THREADS: String(THREADS), WEBHOOK_ALLOW_PRIVATE: '1' };
      server = await startTestService({ env, ...(databaseUrl && { databaseUrl }) });
      admin = await server.addToken({ scopes: [...SCOPES] });
      agents = await connectToEachThread(server.port, THREADS);
    });
    after(async () => {
      for (const agent of agents) agent.destroy();
      await server.stop();
    });

    function call(agent: Agent, method: string, path: string, body?: object, secret = admin.secret): Promise<Answer> {
      const headers = { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) };
      return send(server.port, { method, path, headers, agent, ...(body && { body: JSON.stringify(body) }) });
    }

    /** Sends a request over each connection in turn, `count` in all. Returns the statuses. */
    async function inTurns(count: number, secret: string): Promise<number[]> {
      const statuses: number[] = [];
      for (let n = 0; n < count; n++) {
        statuses.push((await call(agents[n % THREADS] as Agent, 'GET', '/tokens/self', undefined, secret)).status);
      }
      return statuses;
    }

    test('each thread reads at once what another has written', async () => {
      for (let n = 0; n < 50; n++) {
        const [one, other] = [agents[n % THREADS] as Agent, agents[(n + 1) % THREADS] as Agent];
        assert.equal((await call(one, 'POST', '/plants', { id: n, name: `Plant ${n}` })).status, 200);
        assert.equal((await call(other, 'GET', `/plants/${n}`)).status, 200);
      }
    });

    test('the rate of a token holds for all threads together', async () => {
      const { secret } = await server.addToken({ rate: { count: 10, periodMs: 3_600_000 } });
      const statuses = await inTurns(15, secret);
      assert.deepEqual(statuses, [...Array(10).fill(200), ...Array(5).fill(429)]);
    });

    test('the limit of invalid tokens holds for all threads together', async () => {
      const statuses = await inTurns(115, 'pst_guess'); // a limit of each thread would allow 300
      assert.deepEqual(statuses.slice(0, 100), Array(100).fill(401));
      assert.ok(statuses.includes(429));
    });

    test('a revocation takes effect on each thread within a second', async () => {
      await quickEnough(1000, async () => {
        const { id, secret } = await server.addToken({});
        assert.deepEqual(await inTurns(THREADS, secret), Array(THREADS).fill(200));
        assert.equal((await call(agents[0] as Agent, 'DELETE', `/tokens/${id}`)).status, 204);
        const revokedMs = performance.now();
        await until(async () => (await inTurns(THREADS, secret)).every((status) => status === 401));
        return performance.now() - revokedMs;
      });
    });

    test('an event stream of each thread has the changes of all threads', async () => {
      const streams = await Promise.all((await connectToEachThread(server.port, THREADS)).map(openStream));
      for (const [n, agent] of agents.entries()) await call(agent, 'PUT', `/plants/${1000 + n}`, { name: 'seen' });
      for (const text of streams) await until(() => agents.every((_, n) => text().includes(`"id":${1000 + n},`)));
    });

    test('GET /metrics and GET /status return the sums of all threads, on each of them', async () => {
      await Promise.all(agents.map((agent) => call(agent, 'GET', '/plants/count')));
      for (const agent of agents) {
        const metrics = (await call(agent, 'GET', '/metrics')).body;
        assert.match(metrics, /plant_store_requests_total{method="GET",route="\/plants\/{id}",status="200"} 50\n/);
        const created = /plant_store_requests_total{method="POST",route="\/plants",status="200"} (\d+)/.exec(
          metrics,
        )?.[1];
        assert.equal(created, '50');
        const writes = Number(/plant_store_batch_writes_sum (\d+)/.exec(metrics)?.[1]);
        assert.ok(writes >= 50, `${writes} writes`);
        const status = JSON.parse((await call(agent, 'GET', '/status')).body);
        assert.equal(status.refused.rate, 5);
        assert.ok(status.connections.open >= THREADS);
        assert.ok(status.hours.reduce((sum: number, { requests }: { requests: number }) => sum + requests, 0) > 250);
      }
    });

    test('the summary of one thread is never older than that of another before', async () => {
      let last = 0;
      for (let n = 0; n < 2 * THREADS; n++) {
        await call(agents[0] as Agent, 'PUT', '/plants/3000', { name: `counted ${n}` });
        const { lastChange } = JSON.parse((await call(agents[n % THREADS] as Agent, 'GET', '/plants/summary')).body);
        assert.ok(lastChange >= last && lastChange > 0, `${lastChange} after ${last}`);
        last = lastChange;
      }
    });

    test('a webhook that any thread creates gets its changes at once', async () => {
      const receiver = await startReceiver();
      for (const [n, agent] of agents.entries()) {
        const { status } = await call(agent, 'POST', '/webhooks', { url: `${receiver.url}/${n}` });
        assert.equal(status, 201);
      }
      await call(agents[1] as Agent, 'PUT', '/plants/2000', { name: 'sent' });
      await receiver.count(THREADS);
      assert.deepEqual(receiver.received.map(({ path }) => path).sort(), ['/hook/0', '/hook/1', '/hook/2']);
    });

    async function openStream(agent: Agent): Promise<() => string> {
      let text = '';
      const response = await open('/events', { accept: 'text/event-stream' }, agent);
      response.on('data', (chunk) => {
        text += chunk;
      });
      return () => text;
    }

    async function open(path: string, headers: object, agent?: Agent): Promise<IncomingMessage> {
      const authorization = `Bearer ${admin.secret}`;
      const sent = get({ host: '127.0.0.1', port: server.port, path, headers: { authorization, ...headers }, agent });
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      return response;
    }

    test('the slots of exports are shared by all threads', async () => {
      await server.store.import(
        Array.from({ length: 200 }, (_, n) => ({ id: BigInt(10_000 + n), name: 'Acer '.repeat(10_000) })), // 10 MB
        { tokenId: 'test' },
      );
      const exports = await Promise.all(Array.from({ length: 4 }, () => open('/plants/export', {})));
      const statuses = new Set<number | undefined>();
      for (const agent of agents) statuses.add((await call(agent, 'GET', '/plants/export')).status);
      assert.deepEqual([...statuses], [429]);
      for (const response of exports) response.destroy();
      await until(async () => (await call(agents[0] as Agent, 'GET', '/plants/export')).status === 200);
    });
  });
}

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
