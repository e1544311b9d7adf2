// PostgreSQL is stopped or crashes under writing clients, and is started again. Who gets 503 sends the same record again.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../../testing/postgres.ts';
import { createOver, send } from '../../testing/request.ts';
import type { TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { ANSWERS_FIRST_ON_POSTGRES, assertKeptOnPostgres, whyNoPostgres } from '../on-postgres.ts';

const WRITERS = 32;
const AGAIN_AFTER_MS = 100;
const RECOVERS_WITHIN_MS = 5000;

fault({
  name: 'database gone',
  mark: '503 with Retry-After meanwhile, recovers by itself within 5 s, 0 acknowledged records lost',
  rounds: { short: 2, full: 20, of: `outages of PostgreSQL under ${WRITERS} writers` },
  skip: whyNoPostgres,
  async trial({ t, rounds, isFull, random, startServer }) {
    const postgres = await startPostgres();
    t.after(() => postgres.remove());
    const server = await startServer({ databaseUrl: postgres.url });
    t.after(() => server.kill());
    const load = startWriters(server);
    t.after(() => load.stop());
    let slowestMs = 0;
    for (let round = 0; round < rounds; round++) {
      await load.grows();
      await sleep(random.below(500));
      await postgres.stop(round % 2 === 0 ? 'SIGQUIT' : 'SIGINT');
      await assertUnavailable(server);
      await sleep(random.below(isFull ? 8000 : 500));
      await postgres.start();
      const startMs = performance.now();
      await load.grows();
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      await assertKeptOnPostgres(new Map(load.acknowledged), postgres.url);
    }
    await load.stop();
    await assertKeptOnPostgres(load.acknowledged, postgres.url);
    assert.deepEqual([...load.answers.keys()].sort(), [200, 503], 'writers got something else than 200 and 503');
    assert.match(server.output(), /"kind":"writes_failing".*[\s\S]*"kind":"writes_recovered"/);
    return `${load.acknowledged.size.toLocaleString('en')} acknowledged, 0 lost, ${load.answers.get(503)} × 503, writes again after ${slowestMs.toFixed(0)} ms at most`;
  },
  controls: {
    'one that answers, and commits 500 ms later': {
      changes: ANSWERS_FIRST_ON_POSTGRES,
      caught: /were acknowledged, and lost/,
    },
  },
});

function startWriters(server: TestServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
  const acknowledged = new Map<bigint, string>();
  const answers = new Map<number | string, number>();
  let nextId = 0n;
  let isWriting = true;
  const writers = Array.from({ length: WRITERS }, async () => {
    while (isWriting) {
      const id = nextId++;
      const name = `Plant number ${id}`;
      while (isWriting) {
        const answer = await createOver(agent, server, { id, name });
        answers.set(answer, (answers.get(answer) ?? 0) + 1);
        if (answer === 200) acknowledged.set(id, name);
        if (answer !== 503) break;
        await sleep(AGAIN_AFTER_MS);
      }
    }
  });
  return {
    acknowledged,
    answers,
    /** Ends when something more is acknowledged. */
    async grows(): Promise<void> {
      const { size } = acknowledged;
      const endMs = performance.now() + RECOVERS_WITHIN_MS;
      while (acknowledged.size === size) {
        assert.ok(performance.now() < endMs, `nothing was acknowledged for ${RECOVERS_WITHIN_MS / 1000} s`);
        await sleep(5);
      }
    },
    async stop(): Promise<void> {
      isWriting = false;
      await Promise.all(writers);
      agent.destroy();
    },
  };
}

async function assertUnavailable({ port, secret }: TestServer): Promise<void> {
  const get = (path: string) => send(port, { path, headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await get('/healthz')).status, 200, 'it does not live without PostgreSQL');
  for (const path of ['/readyz', '/plants/1', '/plants', '/events', '/plants/export']) {
    const { status, headers, body } = await get(path);
    assert.equal(status, 503, `${path} is ${status} while PostgreSQL is gone`);
    assert.ok(headers['retry-after'], `${path} does not say when to try again`);
    assert.equal(JSON.parse(body).error, 50300);
    assert.doesNotMatch(body, /postgres|ECONN|127\.0\.0\.1/);
  }
}
