// Tests features of the PostgreSQL store: lost connections, poolers, webhooks of several nodes, and the change log.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { freePort } from '../../../testing/free-port.ts';
import { startPgBouncer } from '../../../testing/pgbouncer.ts';
import { makeDatabase, needsPostgres, openPostgres, queryPostgres } from '../../../testing/postgres.ts';
import { startProxy } from '../../../testing/proxy.ts';
import { needs } from '../../../testing/server.ts';
import { walk } from '../../../testing/store-walk.ts';
import { eventually, until } from '../../../testing/until.ts';
import { joinPostgresStore } from './store.ts';

const BY = { tokenId: 'tok_1' };
const needsPooler = needsPostgres.skip ? needsPostgres : needs('pgbouncer');

suite('connections to PostgreSQL', needsPostgres, () => {
  test('an unreachable server is reported in one line', async () => {
    const port = await freePort();
    await assert.rejects(
      openPostgres(`postgres://postgres@127.0.0.1:${port}/postgres`),
      /^UserError: Cannot reach postgres:\/\/127\.0\.0\.1:\d+\/postgres: connect ECONNREFUSED \S+ Check the URL, and that PostgreSQL is running\.$/,
    );
  });

  test('TLS options in the URL fail with an error of one line if the server has no TLS', async () => {
    const url = process.env.TEST_POSTGRES_URL;
    for (const options of ['sslmode=require', 'sslmode=verify-full', 'sslmode=verify-full&sslrootcert=/nowhere.crt']) {
      await assert.rejects(openPostgres(`${url}?${options}`), /^UserError: Cannot reach postgres:.*\/postgres: \S.*$/);
    }
  });

  test('a committed create whose response is lost fails with 503, and is then a replay', async (t) => {
    const url = await makeDatabase();
    const proxy = await startProxy(Number(new URL(url).port));
    t.after(proxy.close);
    const store = await openPostgres(url.replace(/:\d+\//, `:${proxy.port}/`));
    t.after(store.close);
    await store.create({ id: 1n, name: 'before' }, BY);
    await store.get(1n); // leaves an idle connection in the pool
    proxy.isMuted = true;
    const lost = store.create({ id: 2n, name: 'Ficus' }, BY);
    lost.catch(() => {});
    await until(async () => (await queryPostgres(url, 'SELECT FROM plants WHERE id = 2')).length === 1);
    proxy.drop();
    await assert.rejects(lost, { code: 'unavailable', message: /Send the same record again/ });
    proxy.isMuted = false;
    assert.equal((await eventually(() => store.create({ id: 2n, name: 'Ficus' }, BY))).replayed, true);
  });
});

test('two stores work through a pooler in transaction mode', needsPooler, async () => {
  const pooler = await startPgBouncer(await makeDatabase());
  const stores = [await openPostgres(pooler.url), await openPostgres(pooler.url)] as const;
  const ids = Array.from({ length: 20 }, (_, n) => BigInt(n));
  await Promise.all(ids.map((id) => stores[Number(id % 2n)]?.create({ id, name: `Ficus ${id}`, tag: 't' }, BY)));
  for (const store of stores) {
    const [found, { plants }] = await Promise.all([walk(store, { q: 'ficus', tag: 't' }), store.export()]);
    for (const all of [found, await Array.fromAsync(plants)])
      assert.deepEqual(
        all.map(({ id }) => id),
        ids,
      );
    await store.close();
  }
  await pooler.stop();
});

suite('the nodes of a database', needsPostgres, () => {
  test('nodes that keep running share the webhooks, and a node that ends within 2 s gets none', async () => {
    const url = await makeDatabase();
    const store = await openPostgres(url);
    for (let n = 0; n < 6; n++) {
      const [id, events] = [`whk_${n}`, ['plant.created' as const]];
      await store.addWebhook({ id, url: 'https://x.example/', events, secret: '', createdMs: 0 });
    }
    const claim = async (node: string) => {
      const { webhooks, surplus } = await store.claimWebhooks(node, 20_000);
      return [webhooks.length, surplus];
    };
    const pass = (ms: number) =>
      queryPostgres(
        url,
        `UPDATE delivery_nodes SET since = since - $1 * interval '1 ms', renewed = renewed - $1 * interval '1 ms',
           leased_until = leased_until - $1 * interval '1 ms'`,
        ms,
      );
    assert.deepEqual(await claim('a'), [6, 0], 'the first node gets all webhooks');
    for (let passedMs = 0; passedMs < 2200; passedMs += 550) {
      await pass(550);
      assert.deepEqual(await claim('a'), [6, 0]);
      assert.deepEqual(await claim(`ghost ${passedMs}`), [0, 0]);
    }
    await claim('b');
    for (let passedMs = 0; passedMs < 2200; passedMs += 550) {
      await pass(550);
      await claim('b');
    }
    assert.deepEqual(await claim('a'), [6, 3], 'two nodes keep running');
    await store.releaseWebhooks('a', ['whk_0', 'whk_1', 'whk_2']);
    assert.deepEqual(await claim('b'), [3, 0]);
    assert.deepEqual(await claim('a'), [3, 0]);
    await store.releaseWebhooks('b');
    assert.deepEqual(await claim('a'), [6, 0], 'webhooks that a node releases are free immediately');
    await store.close();
  });
});

suite('the change log', needsPostgres, () => {
  test('pruning stops at the first change that is not older, and reading pruned changes throws changes_pruned', async () => {
    const url = await makeDatabase();
    let nowMs = 1000;
    const store = await openPostgres(url, { clock: () => nowMs });
    for (const ms of [1000, 2000, 5000, 3000]) {
      nowMs = ms;
      await store.create({ id: BigInt(ms), name: 'x' }, BY);
    }
    assert.equal(await store.pruneChanges(4000), 2);
    assert.deepEqual(
      (await store.changes()).map(({ seq }) => seq),
      [3, 4],
    );
    await assert.rejects(store.changes({ after: 1 }), { code: 'changes_pruned' });
    assert.equal((await store.changes({ after: 2 })).length, 2);
    assert.equal(await store.pruneChanges(9000), 2);
    const { seq, close } = await store.export();
    assert.equal(seq, 4);
    close();
    assert.equal((await store.create({ id: 1n, name: 'x' }, BY)).seq, 5);
    await store.close();
  });
});

suite('a restored backup', needsPostgres, () => {
  test('a restored backup skips numbers assigned after it, and reading from such a number throws changes_pruned', async () => {
    const url = await makeDatabase();
    const store = await openPostgres(url);
    const { seq } = await store.create({ id: 1n, name: 'x' }, BY);
    await queryPostgres(url, 'SELECT skip_change_numbers()');
    assert.deepEqual(await store.changes({ after: seq - 1 }).then((all) => all.length), 1);
    await assert.rejects(store.changes({ after: seq + 1 }), { code: 'changes_pruned' });
    const next = await store.create({ id: 2n, name: 'x' }, BY);
    assert.ok(next.seq > seq + 1_000_000_000 && Number.isSafeInteger(next.seq), `the next number is ${next.seq}`);
    assert.equal((await store.changes({ after: seq })).length, 1);
    await store.close();
  });
});

test('the number of plants stays exact when two nodes prune at once', needsPostgres, async (t) => {
  const url = await makeDatabase();
  let nowMs = 1000;
  const stores = [await openPostgres(url, { clock: () => nowMs }), await openPostgres(url)] as const;
  const lock = new pg.Client(url);
  await lock.connect();
  t.after(() => Promise.all([...stores, { close: () => lock.end() }].map((one) => one.close())));
  for (const id of [1n, 2n, 3n]) await stores[0].create({ id, name: 'x' }, BY);
  nowMs = 5000;
  for (const id of [4n, 5n]) await stores[0].create({ id, name: 'x' }, BY);
  const waiting = async (count: number) => {
    const text = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await queryPostgres(url, text)).length === count);
  };
  await lock.query('BEGIN; SELECT FROM numbering FOR UPDATE');
  const all = stores[0].pruneChanges(10_000);
  await waiting(1);
  const some = stores[1].pruneChanges(2000);
  await waiting(2);
  await lock.query('COMMIT');
  assert.deepEqual([await all, await some], [5, 0]);
  for (const store of stores) assert.deepEqual(await store.count(), { plants: 5, isMore: false });
});

test(
  'the thread that opens the store adds missing name keys, and the other threads do not',
  needsPostgres,
  async (t) => {
    const url = await makeDatabase();
    const keys = () => queryPostgres(url, 'SELECT sort_name FROM plants ORDER BY id');
    const first = await openPostgres(url);
    for (const id of [1n, 2n]) await first.create({ id, name: 'Äpfel' }, BY);
    const complete = await keys();
    await queryPostgres(url, 'UPDATE plants SET sort_name = NULL'); // as a node of the version before writes them
    const joined = await joinPostgresStore(first.join, { observe: () => {} });
    t.after(async () => {
      await joined.close();
      await first.close();
    });
    await joined.create({ id: 3n, name: 'x' }, BY);
    assert.deepEqual(await keys(), [{ sort_name: null }, { sort_name: null }, { sort_name: null }]);
    const second = await openPostgres(url);
    await until(async () => isDeepStrictEqual((await keys()).slice(0, 2), complete));
    await second.close();
  },
);
