// What holds for the threads of one service together, on each database.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Agent, get, type IncomingMessage } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { SCOPES } from '../src/domain/names.ts';
import type { DATABASES } from './both-databases.ts';
import { startReceiver } from './receiver.ts';
import { type Answer, send } from './request.ts';
import { startTestService, type TestService } from './service.ts';
import { connectToEachThread } from './threads.ts';
import { quickEnough, until } from './until.ts';

export const THREADS = 3;

export function threadCases([name, makeDatabase, options]: (typeof DATABASES)[number]): void {
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
