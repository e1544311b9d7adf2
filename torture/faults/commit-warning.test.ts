// A commit waits for a standby that does not answer, and somebody ends the wait: PostgreSQL then answers the COMMIT with
// no more than a WARNING, as it would without the standby. A failover may lose what was answered with 200 there.

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
  mark: 'a create or replay whose wait for the standby was ended is 503 "send the same record again", and 200 once it is safe',
  rounds: { short: 2, full: 50, of: `times that every wait for a standby is ended, ${WRITERS} writers` },
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
      // The first is the create, which may be there afterwards; then it is a replay.
      for (const end of [ENDS[round % 2] as string, random.pick(ENDS)]) {
        for (const { status, body } of await endWaits(postgres, end, () => bodies.map((body) => post(server, body)))) {
          assert.equal(status, 503, `${status} after ${end}, while no standby has it: ${body}`);
          assert.match(body, /Send the same record again/);
          ended++;
        }
      }
      await waitForStandby(postgres, '');
      for (const body of bodies) {
        const answer = await post(server, body);
        assert.equal(answer.status, 200, answer.body);
        assert.equal(answer.headers['idempotent-replayed'], 'true', 'it was not stored the first time');
      }
    }
    return `${ended} answers without a standby, all 503`;
  },
  controls: {
    'one that does not hear what is said about a COMMIT': {
      change: ['src/storage/postgres/transaction.ts', 'if (warning || commit', 'if (commit'],
      caught: /200 after pg_cancel_backend/,
      rounds: 1,
    },
    'one that lets the database hide warnings': {
      change: ['src/storage/postgres/transaction.ts', '; SET LOCAL client_min_messages = warning', ''],
      caught: /200 after pg_cancel_backend/,
      rounds: 1,
    },
    'one that answers a replay by what it has read': {
      changes: [
        ['src/storage/postgres/commit-batch.ts', ` && group.seen === 'committed'`, ''],
        ['src/storage/postgres/commit-batch.ts', `({ writes }) => writes[0]?.write.kind !== 'create'`, '() => true'],
      ],
      caught: /200 after pg_\w+_backend, while no standby has it/,
      rounds: 1,
    },
  },
});

/** Until everything sent has its answer. */
async function endWaits<T>({ url }: TestPostgres, end: string, send: () => Promise<T>[]): Promise<T[]> {
  let isSettled = false;
  const answers = Promise.all(send()).finally(() => {
    isSettled = true;
  });
  const endMs = performance.now() + SETTLED_WITHIN_MS;
  while (!isSettled) {
    assert.ok(performance.now() < endMs, 'some have no answer, though nobody waits any more');
    await queryPostgres(url, `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    await sleep(POLL_MS);
  }
  return answers;
}
