// PostgreSQL stops or crashes under writing clients, and starts again. A client that gets 503 retries the same record.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { WRITES_RECOVER_MS } from '../../src/observability/report-states-once.ts';
import { startPostgres } from '../../testing/postgres.ts';
import { send } from '../../testing/request.ts';
import type { TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { ANSWERS_FIRST_ON_POSTGRES, whyNoPostgres } from '../on-postgres.ts';

const WRITERS = 32;
const RECOVERS_WITHIN_MS = 5000;

fault({
  name: 'database outage',
  mark: 'The server returns 503 with Retry-After during the outage and recovers without help within 5 s. No acknowledged record is lost.',
  rounds: { short: 2, full: 20, of: `PostgreSQL outages under ${WRITERS} writers` },
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
    assert.deepEqual([...answers.keys()].sort(), [200, 503], 'a writer got a response other than 200 and 503');
    const turn = /"kind":"writes_failing".*[\s\S]*"kind":"writes_recovered"/;
    await until(() => turn.test(server.output()), 2 * WRITES_RECOVER_MS);
    return `${acknowledged.size.toLocaleString('en')} acknowledged, 0 lost, ${answers.get(503)} × 503, writes recovered within ${slowestMs.toFixed(0)} ms`;
  },
  controls: {
    'responds 500 ms before it commits': {
      changes: ANSWERS_FIRST_ON_POSTGRES,
      caught: /acknowledged records are lost/,
    },
  },
});

async function assertUnavailable({ port, secret }: TestServer): Promise<void> {
  const get = (path: string) => send(port, { path, headers: { authorization: `Bearer ${secret}` } });
  assert.equal((await get('/healthz')).status, 200, '/healthz failed without PostgreSQL');
  for (const path of ['/readyz', '/plants/1', '/plants', '/events', '/plants/export']) {
    const { status, headers, body } = await get(path);
    assert.equal(status, 503, `${path} returned ${status} while PostgreSQL was down`);
    assert.ok(headers['retry-after'], `${path} has no Retry-After`);
    assert.equal(JSON.parse(body).error, 50300);
    assert.doesNotMatch(body, /postgres|ECONN|127\.0\.0\.1/);
  }
}
