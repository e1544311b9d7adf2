// Several nodes on one PostgreSQL: each node returns the records that another has stored.

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { createClient, type PlantStoreClient } from '../src/client/client.ts';
import type { Change } from '../src/domain/change.ts';
import type { PlantStoreError } from '../src/domain/errors.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../testing/postgres.ts';
import { send } from '../testing/request.ts';
import { startTestService, type TestService } from '../testing/service.ts';
import { quickEnough, until } from '../testing/until.ts';

suite('two nodes', needsPostgres, () => {
  let url: string;
  let nodes: [TestService, TestService];
  let clients: [PlantStoreClient, PlantStoreClient];

  before(async () => {
    url = await makeDatabase();
    nodes = await Promise.all([startTestService({ databaseUrl: url }), startTestService({ databaseUrl: url })]);
    clients = [clientOf(nodes[0]), clientOf(nodes[1])];
  });

  test('when clients at both nodes replace the same version, exactly one succeeds', async () => {
    let { seq } = await clients[0].put(5000n, { name: 'first' });
    for (let round = 0; round < 10; round++) {
      const race = await Promise.allSettled(
        Array.from({ length: 16 }, (_, n) =>
          (clients[n % 2] as PlantStoreClient).put(5000n, { name: `${round} ${n}` }, { ifMatch: [seq] }),
        ),
      );
      const winners = race.filter((one) => one.status === 'fulfilled');
      assert.equal(winners.length, 1);
      for (const one of race) if (one.status === 'rejected') assert.equal(one.reason.code, 'condition_failed');
      seq = (winners[0] as PromiseFulfilledResult<{ seq: number }>).value.seq;
    }
  });

  test('a reader of the change log at either node receives every number once, in order, while both nodes write', async () => {
    const [{ last }] = (await queryPostgres(url, 'SELECT max(seq) AS last FROM changes')) as [{ last: bigint }];
    const end = new AbortController();
    const seen = nodes.map((): Change[] => []);
    const followers = clients.map(async (client, at) => {
      const options = { after: Number(last), signal: end.signal };
      for await (const change of client.follow(options)) (seen[at] as Change[]).push(change);
    });
    const pages: number[] = [];
    let writing = true;
    const pager = (async () => {
      for (let from = Number(last); ; ) {
        const isLast = !writing; // Read before the request, so that no change is missed between the two.
        const page = await (clients[pages.length % 2] as PlantStoreClient).changes({ after: from, limit: 50 });
        pages.push(...page.map(({ seq }) => seq));
        from = page.at(-1)?.seq ?? from;
        if (page.length === 0 && isLast) return;
      }
    })();
    let changes = 0;
    await Promise.all(
      Array.from({ length: 32 }, async (_, n) => {
        const client = clients[n % 2] as PlantStoreClient;
        for (let round = 0; round < 10; round++) {
          const id = BigInt(10_000 + 100 * round + n);
          await client.create({ id, name: 'x' });
          await client.put(id, { name: 'y' });
          if (round % 2) await client.delete(id);
          changes += round % 2 ? 3 : 2;
        }
      }),
    );
    writing = false;
    await pager;
    await until(() => seen.every((all) => all.length >= changes));
    end.abort();
    await Promise.all(followers);
    const all = Array.from({ length: changes }, (_, n) => Number(last) + 1 + n);
    assert.deepEqual(pages, all);
    for (const own of seen)
      assert.deepEqual(
        own.map(({ seq }) => seq),
        all,
      );
  });

  test('a change reaches followers at the other node within a second', async () => {
    const { seq } = await clients[0].put(7n, { name: 'before' });
    const end = new AbortController();
    const heard: number[] = [];
    const follower = (async () => {
      for await (const _ of clients[1].follow({ after: seq, signal: end.signal })) heard.push(performance.now());
    })();
    for (let n = 0; n < 5; n++) {
      await quickEnough(1000, async () => {
        const startMs = performance.now();
        const next = heard.length;
        await clients[0].put(7n, { name: `round ${n} ${next}` });
        return (await until(() => heard[next])) - startMs;
      });
    }
    end.abort();
    await follower;
  });

  test('every node rejects a revoked token within a second', async () => {
    const ask = async (node: TestService, secret: string) =>
      (await send(node.port, { path: '/plants?limit=1', headers: { authorization: `Bearer ${secret}` } })).status;
    await quickEnough(1000, async () => {
      const { id, secret } = await nodes[0].addToken({ name: 'revoked' });
      for (const node of nodes) assert.equal(await ask(node, secret), 200);
      await nodes[0].store.revokeToken(id, Date.now());
      const startMs = performance.now();
      for (const node of nodes) await until(async () => (await ask(node, secret)) === 401);
      return performance.now() - startMs;
    });
  });

  test('a plant stored at one node can be read and replayed at the other immediately', async () => {
    for (let id = 20_000n; id < 20_020n; id++) {
      const { seq } = await clients[0].create({ id, name: 'Ficus' });
      assert.equal((await clients[1].get(id)).seq, seq);
      assert.deepEqual(await clients[1].create({ id, name: 'Ficus' }), { seq, replayed: true });
      const refused = await clients[1].create({ id, name: 'Acer' }).catch((error: PlantStoreError) => error.code);
      assert.equal(refused, 'id_taken');
    }
  });
});

function clientOf({ url, secret }: TestService): PlantStoreClient {
  return createClient({ url, token: secret });
}
