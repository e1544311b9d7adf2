// PostgreSQL is stopped or crashes under writing clients, and is started again. Who gets 503 sends the same record again.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../../testing/postgres.ts';
import { send } from '../../testing/request.ts';
import type { TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ANSWERS_FIRST_ON_POSTGRES, whyNoPostgres } from '../on-postgres.ts';

const WRITERS = 32;
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
    const ledger = new Ledger();
    const ended = new AbortController();
    const writing = ledger.write(server, { connections: WRITERS, untilAborted: ended.signal });
    t.after(() => ended.abort());
    let slowestMs = 0;
    for (let round = 0; round < rounds; round++) {
      await ledger.grows(RECOVERS_WITHIN_MS);
      await sleep(random.below(500));
      await postgres.stop(round % 2 === 0 ? 'SIGQUIT' : 'SIGINT');
      await assertUnavailable(server);
      await sleep(random.below(isFull ? 8000 : 500));
      await postgres.start();
      const startMs = performance.now();
      await ledger.grows(RECOVERS_WITHIN_MS);
      slowestMs = Math.max(slowestMs, performance.now() - startMs);
      await ledger.assertKeptOnPostgres(postgres.url);
    }
    ended.abort();
    await writing;
    await ledger.assertKeptOnPostgres(postgres.url);
    const { acknowledged, answers } = ledger;
    assert.deepEqual([...answers.keys()].sort(), [200, 503], 'writers got something else than 200 and 503');
    assert.match(server.output(), /"kind":"writes_failing".*[\s\S]*"kind":"writes_recovered"/);
    return `${acknowledged.size.toLocaleString('en')} acknowledged, 0 lost, ${answers.get(503)} × 503, writes again after ${slowestMs.toFixed(0)} ms at most`;
  },
  controls: {
    'one that answers, and commits 500 ms later': {
      changes: ANSWERS_FIRST_ON_POSTGRES,
      caught: /were acknowledged, and lost/,
    },
  },
});

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
