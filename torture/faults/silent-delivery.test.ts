// Errors that the delivery loop does not expect, made from outside while the server runs: on SQLite a webhook whose URL is
// none, on PostgreSQL a table that is gone. The log must say so, in a few lines, and deliveries resume when the cause is gone.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresHere, makeDatabase, queryPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { addAdmin, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';

const SAID_WITHIN_MS = 10_000;
const BROKEN_MS = { short: 1000, full: 5000 };
const MAX_LINES = 3;
const PLANTS = 5;
const MIN_VERSIONS = 4;

fault({
  name: 'silent delivery',
  mark: 'the log says so within seconds and in 3 lines at most, the process lives, every change arrives in order afterwards',
  rounds: { short: 1, full: 5, of: 'broken deliveries on each database' },
  async trial(trial) {
    let [lines, delivered] = [0, 0];
    for (let round = 0; round < trial.rounds; round++) {
      const tried = [
        tryOn(trial, onSqlite),
        ...(isPostgresHere() ? [tryOn(trial, onPostgres, await makeDatabase())] : []),
      ];
      for (const one of await Promise.all(tried)) {
        lines = Math.max(lines, one.lines);
        delivered += one.delivered;
      }
    }
    const missing = isPostgresHere() ? '' : '; NOT TRIED on PostgreSQL, which is not here';
    return `${lines} lines at most, ${delivered} changes delivered in order afterwards${missing}`;
  },
  controls: {
    'one that swallows the errors of its loop': {
      change: ['src/webhooks/delivery-loop.ts', 'if (isBug) reportBug(error);', ''],
      caught: /the log says nothing/,
    },
    'one that reports a bug with every try, and tries at once': {
      changes: [
        ['src/observability/bug-report.ts', 'reportedMs.has(message) || ', ''],
        ['src/observability/bug-report.ts', 'const MAX_REPORTED = 10', 'const MAX_REPORTED = 1e9'],
        ['src/observability/bug-report.ts', 'reportedMs.set(message, nowMs);', ''],
        ['src/webhooks/webhook-delivery.ts', 'const AFTER_BUG_MS = 1000', 'const AFTER_BUG_MS = 0'],
      ],
      caught: /lines of the log within/,
    },
  },
});

interface Breaking {
  /** What the log must speak of. */
  words: RegExp;
  break(server: TestServer): Promise<void>;
  fix(server: TestServer, url: string): Promise<void>;
}

const onSqlite: Breaking = {
  words: /"kind":"bug".*Invalid URL/,
  break: async ({ databasePath }) => setUrl(databasePath, 'nowhere'),
  fix: async ({ databasePath }, url) => setUrl(databasePath, url),
};

const onPostgres: Breaking = {
  words: /"kind":"bug".*relation \\"public.deliveries\\" does not exist/,
  break: ({ databaseUrl }) => change(databaseUrl, 'ALTER TABLE deliveries RENAME TO deliveries_away'),
  fix: ({ databaseUrl }) => change(databaseUrl, 'ALTER TABLE deliveries_away RENAME TO deliveries'),
};

async function tryOn(
  { isFull, startServer }: Trial,
  { words, break: breakIt, fix }: Breaking,
  databaseUrl?: string,
): Promise<{ lines: number; delivered: number }> {
  const server = await startServer({ ...(databaseUrl && { databaseUrl }), env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const { call } = await addAdmin(server);
  const receiver = await startReceiver();
  await call('POST', '/webhooks', { url: receiver.url, events: ['plant.created', 'plant.updated'] });
  await call('PUT', '/plants/1', { name: 'before' });
  await receiver.count(1);
  await sleep(300); // so that it is recorded

  await breakIt(server);
  const isSaid = () => words.test(server.output());
  const endMs = performance.now() + SAID_WITHIN_MS;
  let versions = 0;
  for (; versions < MIN_VERSIONS || !isSaid(); versions++) {
    assert.ok(performance.now() < endMs, `the log says nothing: ${server.output()}`);
    for (let id = 1; id <= PLANTS; id++) {
      assert.equal((await call('PUT', `/plants/${id}`, { name: `version ${versions}` })).status, 200);
    }
    await sleep(100);
  }
  const brokenMs = isFull ? BROKEN_MS.full : BROKEN_MS.short;
  await sleep(brokenMs);
  const lines = server.output().match(/"kind":"bug"/g)?.length ?? 0;
  assert.ok(lines <= MAX_LINES, `${lines} lines of the log within ${brokenMs} ms`);
  assert.equal((await call('GET', '/healthz')).status, 200);

  await fix(server, receiver.url);
  const wanted = 1 + PLANTS * versions;
  await until(() => new Set(receiver.received.map(({ seq }) => seq)).size === wanted);
  for (let id = 1; id <= PLANTS; id++) {
    const seqs = receiver.received.filter(({ body }) => JSON.parse(body).id === id).map(({ seq }) => seq);
    const first = [...new Set(seqs)];
    assert.deepEqual(
      first,
      first.toSorted((a, b) => a - b),
      `plant ${id} out of order: ${seqs}`,
    );
  }
  assert.equal(await server.stop(), 0);
  return { lines, delivered: wanted };
}

function setUrl(path: string, url: string): void {
  const db = new DatabaseSync(path, { timeout: 5000 });
  db.prepare('UPDATE webhooks SET url = ?').run(url);
  db.close();
}

async function change(databaseUrl: string, sql: string): Promise<void> {
  await queryPostgres(databaseUrl, sql);
}
