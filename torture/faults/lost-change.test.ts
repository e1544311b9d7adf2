// A reader sees changes that no standby has, because an operator ended the wait for the standby. Then the primary is lost
// and the standby is promoted. The node continues to run and finds the new primary in its list of hosts.

import assert from 'node:assert/strict';
import { queryPostgres, startPostgres, startStandby, type TestPostgres } from '../../testing/postgres.ts';
import { callerOf, post } from '../../testing/request.ts';
import type { TestServer } from '../../testing/server.ts';
import { eventually } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { waitForStandby, whyNoPostgres } from '../on-postgres.ts';

/** PostgreSQL reserves 32 numbers of a sequence at a time, so a standby repeats none of a few lost ones. */
const LOST = 50;

fault({
  name: 'promotion without the newest changes',
  mark: 'The numbers of the lost changes are never given again. A reader that has seen one gets 410, before and after the next write.',
  rounds: { short: 2, full: 10, of: `failovers to a standby that lacks ${LOST} changes` },
  skip: whyNoPostgres,
  async trial(trial) {
    for (let round = 0; round < trial.rounds; round++) await loseChanges(trial, round % 2 === 0 ? 'POST' : 'PUT');
    return `${trial.rounds * LOST} lost changes, no number given twice`;
  },
  controls: {},
});

async function loseChanges({ t, startServer }: Trial, method: 'POST' | 'PUT'): Promise<void> {
  const primary = await startPostgres();
  t.after(() => primary.remove());
  const standby = await startStandby(primary);
  t.after(() => standby.remove());
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const databaseUrl = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`;
  const server = await startServer({ databaseUrl });
  t.after(() => server.kill());
  await waitForStandby(primary, '*');
  assert.equal((await post(server, '{"id":1,"name":"on both servers"}')).status, 200);
  const [kept = 0] = await readChanges(server, 0);

  await standby.stop();
  await createUnsafe(server, primary);
  const lost = await readChanges(server, kept);
  assert.equal(lost.length, LOST, 'the reader has not seen the changes');
  const newest = lost.at(-1) as number;

  await primary.stop('SIGQUIT');
  await standby.start();
  await queryPostgres(standby.url, 'SELECT pg_promote()');
  await eventually(() => assertGone(server, newest));
  await eventually(async () => {
    const { status, body } =
      method === 'POST'
        ? await post(server, '{"id":3,"name":"on the new primary"}')
        : await callerOf(server, server.secret)('PUT', '/plants/1', { name: 'on the new primary' });
    assert.equal(status, 200, body);
  });
  const given = await readChanges(server, kept);
  assert.equal(given.length, 1);
  assert.ok(!lost.includes(given[0] as number), `${method}: change ${given[0]} was given again`);
  await assertGone(server, newest);
}

/** Creates plants, and cancels their wait for the standby until each has its response. */
async function createUnsafe(server: TestServer, { url }: TestPostgres): Promise<void> {
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  const creating = Array.from({ length: LOST }, (_, n) => post(server, `{"id":${n + 2},"name":"on the primary only"}`));
  let isSettled = false;
  const created = Promise.all(creating).finally(() => {
    isSettled = true;
  });
  while (!isSettled) await queryPostgres(url, cancel);
  for (const { status, body } of await created) assert.equal(status, 503, body);
}

async function readChanges(server: TestServer, after: number): Promise<number[]> {
  const { status, body } = await callerOf(server, server.secret)('GET', `/events?after=${after}`);
  assert.equal(status, 200, body);
  return (JSON.parse(body) as { seq: number }[]).map(({ seq }) => seq);
}

async function assertGone(server: TestServer, seq: number): Promise<void> {
  const { status } = await callerOf(server, server.secret)('GET', `/events?after=${seq}`);
  assert.equal(status, 410, `a reader that saw the lost change ${seq} got ${status}`);
}
