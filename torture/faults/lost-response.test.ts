// The connection breaks after a create was sent and before its response arrives, up to three times. A client that
// retries the same record gets 200, and the record is stored once. It runs on both databases.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, queryPostgres } from '../../testing/postgres.ts';
import { post } from '../../testing/request.ts';
import { query, type TestServer } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';

const CLIENTS = 32;
const MAX_LOST = 3;
/** Range from before the server reads the request until well after its response. */
const MAX_WAIT_MS = 15;
const RECORDS = `SELECT id || ' ' || name AS line FROM plants`;
const EVENTS = `SELECT plant_id || ' ' || name AS line FROM changes`;

fault({
  name: 'lost response',
  mark: 'A retry with the same record returns 200 and the same plant. One record and one change are stored.',
  rounds: { short: 100, full: 5000, of: 'records on SQLite and on PostgreSQL' },
  skip: whyNoPostgres,
  async trial({ t, rounds, random, startServer }) {
    const url = await makeDatabase();
    const [onSqlite, onPostgres] = await Promise.all([startServer(), startServer({ databaseUrl: url })]);
    t.after(() => Promise.all([onSqlite.kill(), onPostgres.kill()]));
    const counts = [
      await loseAnswers(onSqlite, async (sql) => query(onSqlite.databasePath, sql)),
      await loseAnswers(onPostgres, (sql) => queryPostgres(url, sql)),
    ].map(({ lost, replayed }) => `${lost} responses lost, ${replayed} of them for stored records`);
    return `SQLite: ${counts[0]}; PostgreSQL: ${counts[1]}`;

    async function loseAnswers(server: TestServer, select: (sql: string) => Promise<Record<string, unknown>[]>) {
      const sent: string[] = [];
      let [lost, replayed] = [0, 0];
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          while (sent.length < rounds) {
            const id = sent.length;
            const plant = `{"name":"Plant ${random.below(1000)}"}`;
            sent.push(`${id} ${JSON.parse(plant).name}`);
            const body = `{"id":${id},${plant.slice(1)}`;
            for (let n = random.below(MAX_LOST) + 1; n > 0; n--, lost++) {
              await sendAndDrop(server, body, { waitMs: random.below(MAX_WAIT_MS), reset: random() < 0.5 });
            }
            const answer = await post(server, body);
            assert.equal(answer.status, 200, `a retry returned ${answer.status} ${answer.body}`);
            assert.equal(answer.body, plant);
            if (answer.headers['idempotent-replayed'] === 'true') replayed++;
          }
        }),
      );
      sent.sort();
      assert.deepEqual(linesOf(await select(RECORDS)), sent, 'the records differ from those sent');
      assert.deepEqual(linesOf(await select(EVENTS)), sent, 'not exactly one change per record');
      assert.ok(replayed > 0, 'no lost response was for a stored record, so the trial proves nothing');
      return { lost, replayed };
    }
  },
  controls: {
    'rejects a repeated record as a conflict': {
      change: ['src/storage/write-rules.ts', `      if (isSame(present, write.plant)) return { does: 'keep' };\n`, ''],
      caught: /a retry returned 400/,
    },
    'stores a repeated record again': {
      change: [
        'src/storage/write-rules.ts',
        `if (isSame(present, write.plant)) return { does: 'keep' };\n      return`,
        `if (isSame(present, write.plant)) return { does: 'store', plant: write.plant };\n      return`,
      ],
      caught: /not exactly one change per record/,
    },
  },
});

/** Sends the request and drops the connection after the wait, without reading the response. */
async function sendAndDrop(
  { port, secret }: TestServer,
  body: string,
  { waitMs, reset }: { waitMs: number; reset: boolean },
): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
  await new Promise((sent) => socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`, sent));
  await sleep(waitMs);
  if (reset) socket.resetAndDestroy();
  else socket.destroy();
}

function linesOf(rows: Record<string, unknown>[]): unknown[] {
  return rows.map(({ line }) => line).sort();
}
