// Tests of the database load caused by checking the tokens of many streams.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, needsPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { quickEnough, until } from '../../../testing/until.ts';

suite('watching the tokens of streams, on PostgreSQL', needsPostgres, () => {
  let server: TestService;
  before(async () => {
    server = await startTestService({ databaseUrl: await makeDatabase() });
  });
  after(() => server.stop());

  test('streams whose clients disconnect immediately cause no further queries', async () => {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => server.addToken({})));
    for (const [n, { secret }] of [...tokens, ...tokens, ...tokens].entries()) {
      const socket = connect(server.port, '127.0.0.1');
      const head = `GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
      socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), n % 3));
    }
    await until(async () => (await transactionsPerSecond()) < 15); // a permanent rate of about 20 if their tokens are still looked up
  });

  test('many streams with different tokens share one query at a time, and end with their tokens', async () => {
    const tokens = await Promise.all(Array.from({ length: 200 }, () => server.addToken({ scopes: ['plants:read'] })));
    const streams = await Promise.all(tokens.map(({ secret }) => openStream(secret)));
    await until(async () => (await transactionsPerSecond()) < 60); // a permanent rate of 800 if each stream sends its own query
    let revoked = 0;
    await quickEnough(1000, async () => {
      const startMs = performance.now();
      await server.store.revokeToken(tokens[revoked++]?.id ?? '', Date.now());
      await until(() => streams.slice(0, revoked).every(({ hasEnded }) => hasEnded()));
      return performance.now() - startMs;
    });
    assert.equal(streams.filter(({ hasEnded }) => hasEnded()).length, revoked);
    for (const { close } of streams) close();
  });

  /** Measures over two seconds, because the counters of the database lag by up to one second. */
  async function transactionsPerSecond(): Promise<number> {
    const text = 'SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()';
    const count = async () => Number((await queryPostgres(server.databaseUrl, text))[0]?.n);
    const before = await count();
    await sleep(2000);
    return ((await count()) - before) / 2;
  }

  function openStream(secret: string): Promise<{ hasEnded(): boolean; close(): void }> {
    return new Promise((resolve, reject) => {
      let hasEnded = false;
      const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
      const sent = request({ port: server.port, path: '/events', headers }, (response) => {
        response.on('close', () => {
          hasEnded = true;
        });
        response.on('error', () => {});
        response.once('data', () => resolve({ hasEnded: () => hasEnded, close: () => sent.destroy() }));
      });
      sent.on('error', reject).end();
    });
  }
});
