// A newer version migrates the schema while a node runs, and removes what this version uses. The node is busy, or idle
// behind a load balancer that asks it for its readiness.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, queryPostgres } from '../../testing/postgres.ts';
import { callerOf, post, send } from '../../testing/request.ts';
import type { TestServer } from '../../testing/server.ts';
import { fault, type Trial } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';

const CLIENTS = 16;
const ENDS_WITHIN_MS = 10_000;
const READY_EVERY_MS = 50;
const REASON = /The database was changed by a newer version \(schema 99, this version supports up to \d+\)/;
const MIGRATION = `
  BEGIN;
  DROP FUNCTION create_plants_3, change_plants_3;
  ALTER TABLE plants RENAME COLUMN name TO label;
  INSERT INTO plant_store_schema (version, works_with) VALUES (99, 99);
  COMMIT`;

fault({
  name: 'newer version migrates under a running node',
  mark: 'No request gets 500. The node stops being ready, logs the reason, ends with status 1 and does not start again.',
  rounds: { short: 2, full: 20, of: 'migrations under a node, every second one idle' },
  skip: whyNoPostgres,
  async trial(trial) {
    for (let round = 0; round < trial.rounds; round++) await migrateUnder(trial, round % 2 === 0);
    return `${trial.rounds} migrations, no response with 500`;
  },
  controls: {},
});

async function migrateUnder({ t, startServer }: Trial, isBusy: boolean): Promise<void> {
  const databaseUrl = await makeDatabase();
  const server = await startServer({ databaseUrl, env: { THREADS: isBusy ? '2' : '1' } });
  t.after(() => server.kill());
  const ended = once(server.process, 'close', { signal: AbortSignal.timeout(ENDS_WITHIN_MS + 5000) });
  const answers = new Map<number, Set<string>>();
  const clients = isBusy
    ? Array.from({ length: CLIENTS }, (_, n) => use(server, n, answers))
    : [watch(server, answers)];
  await sleep(300);
  await queryPostgres(databaseUrl, MIGRATION);
  const migratedMs = performance.now();
  const [status] = await ended.catch(() => []);
  const endedMs = performance.now();
  await server.kill();
  await Promise.all(clients);
  assert.deepEqual([...answers.keys()].sort(), [200, 503], 'a client got a response other than 200 and 503');
  assert.equal(status, 1, `the server ended with ${status}: ${server.output()}`);
  assert.ok(endedMs - migratedMs < ENDS_WITHIN_MS);
  const bodies = [...(answers.get(503) ?? [])];
  assert.ok(
    bodies.some((body) => REASON.test(body)),
    `no client got the reason, but ${bodies}`,
  );
  assert.match(server.output(), new RegExp(`"kind":"schema_unsupported".*${REASON.source}`));
  await assert.rejects(startServer({ databaseUrl, token: { secret: '', id: '' } }), REASON);
}

/** Creates and reads plants until the server has ended. */
async function use(server: TestServer, client: number, answers: Map<number, Set<string>>): Promise<void> {
  const call = callerOf(server, server.secret);
  for (let n = 0; ; n++) {
    const id = n * CLIENTS + client;
    const sent = [post(server, `{"id":${id},"name":"x"}`), call('GET', `/plants?limit=1`)];
    if (!(await note(sent, answers))) return;
  }
}

/** Asks for the readiness until the server has ended, as a load balancer does. */
async function watch({ port }: TestServer, answers: Map<number, Set<string>>): Promise<void> {
  while (await note([send(port, { path: '/readyz' })], answers)) await sleep(READY_EVERY_MS);
}

/** Notes the responses. Returns false if a connection failed. */
async function note(sent: ReturnType<typeof send>[], answers: Map<number, Set<string>>): Promise<boolean> {
  const settled = await Promise.allSettled(sent);
  for (const one of settled) {
    if (one.status === 'rejected') continue;
    const { status, body } = one.value;
    answers.set(status, (answers.get(status) ?? new Set()).add(body));
  }
  return settled.every(({ status }) => status === 'fulfilled');
}
