// Kills the server with SIGKILL around commit and dispatch: a crash neither loses nor invents a delivery.
// TORTURE_FORM=full runs more rounds.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDatabase, needsPostgres } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { callerOf, createOver } from '../../testing/request.ts';
import { addToken, besideServer, makeFolder, startServer, type TestServer } from '../../testing/server.ts';

const ROUNDS = process.env.TORTURE_FORM === 'full' ? 100 : 4;
/** On PostgreSQL a killed node keeps its webhooks for 20 s, because other nodes cannot detect the crash earlier. */
const POSTGRES_ROUNDS = Math.floor(ROUNDS / 10);
const needsTime = {
  skip: 'SKIPPED: takes too long without TORTURE_FORM=full; webhook-nodes.long.test.ts also kills a node',
};
const WRITERS = 16;

for (const [name, rounds, makeUrl, options] of [
  ['SQLite', ROUNDS, async () => undefined, {}],
  ['PostgreSQL', POSTGRES_ROUNDS, makeDatabase, POSTGRES_ROUNDS === 0 ? needsTime : needsPostgres],
] as const) {
  suite(`A server that is killed while it delivers, on ${name}`, options, () => {
    test(`delivers every event with a stable id, in ${rounds} rounds`, async (t) => {
      const given = await makeUrl();
      const where = { folder: makeFolder(), ...(given && { databaseUrl: given }) };
      const start = () => startServer({ ...where, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
      const receiver = await startReceiver();
      let server = await start();
      const { secret } = await addToken(server.databaseUrl, { scopes: ['admin', 'plants:read', 'plants:write'] });
      const { status } = await callerOf(server, secret)('POST', '/webhooks', { url: receiver.url });
      assert.equal(status, 201);
      const acknowledged: number[] = [];
      let nextId = 0;
      for (let round = 0; round < rounds; round++) {
        const writing = write(server);
        await receiver.count(receiver.received.length + 1);
        await sleep(Math.random() * 400);
        await server.kill();
        await writing;
        server = await start();
      }
      const log = await besideServer(server.databaseUrl, async (store) => {
        const all: { seq: number; body: string; id: number }[] = [];
        for (let after = 0; ; ) {
          const page = await store.changes({ after, limit: 1000 });
          if (page.length === 0) return all;
          for (const { seq, plant } of page) {
            all.push({ seq, id: Number(plant.id), body: `{"id":${plant.id},"name":${JSON.stringify(plant.name)}}` });
          }
          after = page.at(-1)?.seq ?? after;
        }
      });
      const records = await besideServer(server.databaseUrl, async (store) => {
        const ids: number[] = [];
        for await (const { id } of (await store.export()).plants) ids.push(Number(id));
        return ids;
      });
      assert.deepEqual(
        log.map(({ id }) => id).sort((a, b) => a - b),
        records,
        'a record without an event, or an event without a record',
      );
      const stored = new Set(records);
      assert.deepEqual(
        acknowledged.filter((id) => !stored.has(id)),
        [],
        'acknowledged but lost',
      );
      const endMs = performance.now() + 90_000;
      while (new Set(receiver.received.map(({ seq }) => seq)).size < log.length) {
        assert.ok(performance.now() < endMs, `${receiver.received.length} of ${log.length} arrived`);
        await sleep(50);
      }
      const bodies = new Map(log.map(({ seq, body }) => [seq, body]));
      const ids = new Map<number, string>();
      for (const { seq, body, headers } of receiver.received) {
        assert.equal(body, bodies.get(seq), `change ${seq} differs from the change log`);
        const id = String(headers['webhook-id']);
        assert.equal(ids.get(seq) ?? id, id);
        ids.set(seq, id);
      }
      const again = receiver.received.length - log.length;
      t.diagnostic(`${acknowledged.length} acknowledged, ${log.length} events, ${again} of them sent more than once`);
      await server.stop();

      async function write(to: TestServer): Promise<void> {
        const agent = new Agent({ keepAlive: true, maxSockets: WRITERS });
        const before = receiver.received.length;
        await Promise.all(
          Array.from({ length: WRITERS }, async () => {
            for (;;) {
              if (receiver.received.length === before) await sleep(100); // until the first delivery
              const id = nextId++;
              const answer = await createOver(agent, to, { id, name: `Plant ${id}` });
              if (answer === 200) acknowledged.push(id);
              else return;
            }
          }),
        );
        agent.destroy();
      }
    });
  });
}
