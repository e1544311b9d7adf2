// A commit waits for a standby that does not respond, and an operator ends the wait. PostgreSQL then completes the
// COMMIT with only a WARNING. A failover could lose a record that was acknowledged with 200 in this state.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryPostgres, type TestPostgres } from '../../testing/postgres.ts';
import { post } from '../../testing/request.ts';
import { fault } from '../fault.ts';
import { sharePostgres, waitForStandby, whyNoPostgres } from '../on-postgres.ts';

const WRITERS = 8;
const POLL_MS = 10;
const SETTLED_WITHIN_MS = 10_000;
const ENDS = ['pg_cancel_backend', 'pg_terminate_backend'] as const;

let nextId = 0;
const ownPostgres = sharePostgres(`ALTER DATABASE postgres SET client_min_messages = 'error'`); // hides warnings

fault({
  name: 'WARNING on COMMIT',
  mark: 'If the wait for the standby is ended, a create or replay returns 503 with the message to send the same record again. It returns 200 once the record is safe.',
  rounds: { short: 2, full: 50, of: `rounds that end every wait for a standby, ${WRITERS} writers` },
  skip: whyNoPostgres,
  async trial({ t, rounds, random, startServer }) {
    const postgres = await ownPostgres();
    t.after(() => waitForStandby(postgres, ''));
    const server = await startServer({ databaseUrl: postgres.url });
    t.after(() => server.kill());
    let ended = 0;
    for (let round = 0; round < rounds; round++) {
      const bodies = Array.from({ length: WRITERS }, () => `{"id":${nextId++},"name":"Ficus"}`);
      await waitForStandby(postgres, 'nobody');
      // The first pass is the create, which may be stored afterwards. The second pass is then a replay.
      for (const end of [ENDS[round % 2] as string, random.pick(ENDS)]) {
        for (const { status, body } of await endWaits(postgres, end, () => bodies.map((body) => post(server, body)))) {
          assert.equal(status, 503, `${status} after ${end}, while no standby has it: ${body}`);
          assert.match(body, /"error":50300,.*again/);
          ended++;
        }
      }
      await waitForStandby(postgres, '');
      for (const body of bodies) {
        const answer = await post(server, body);
        assert.equal(answer.status, 200, answer.body);
        assert.equal(answer.headers['idempotent-replayed'], 'true', 'the record was not stored the first time');
      }
    }
    return `${ended} responses without a standby, all 503`;
  },
  controls: {
    'ignores a WARNING on COMMIT': {
      change: ['src/storage/postgres/transaction.ts', 'if (warning || commit', 'if (commit'],
      caught: /200 after pg_cancel_backend/,
      rounds: 1,
    },
    'lets the database hide warnings': {
      change: ['src/storage/postgres/transaction.ts', '; SET LOCAL client_min_messages = warning', ''],
      caught: /200 after pg_cancel_backend/,
      rounds: 1,
    },
    'confirms a replay from a read alone': {
      changes: [
        ['src/storage/postgres/commit-batch.ts', ` && group.seen === 'committed'`, ''],
        ['src/storage/postgres/commit-batch.ts', `({ writes }) => writes[0]?.write.kind !== 'create'`, '() => true'],
      ],
      caught: /200 after pg_\w+_backend, while no standby has it/,
      rounds: 1,
    },
  },
});

/** Ends all waits for a standby until every request has its response. */
async function endWaits<T>({ url }: TestPostgres, end: string, send: () => Promise<T>[]): Promise<T[]> {
  let isSettled = false;
  const answers = Promise.all(send()).finally(() => {
    isSettled = true;
  });
  const endMs = performance.now() + SETTLED_WITHIN_MS;
  while (!isSettled) {
    assert.ok(performance.now() < endMs, 'some requests have no response although no commit waits');
    await queryPostgres(url, `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    await sleep(POLL_MS);
  }
  return answers;
}
