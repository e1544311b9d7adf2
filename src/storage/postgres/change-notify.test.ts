// Tests the notifications that a node sends to the other nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { makeDatabase, needsPostgres, openPostgres } from '../../../testing/postgres.ts';
import { until } from '../../../testing/until.ts';
import { joinPostgresStore } from './store.ts';

const BY = { tokenId: 'tok_1' };

test(
  'A node notifies others at most every 100 ms, for all its threads, and of the last change',
  needsPostgres,
  async (t) => {
    const url = await makeDatabase();
    const listener = new pg.Client(url);
    await listener.connect();
    const nodes: (string | undefined)[] = [];
    listener.on('notification', ({ payload }) => nodes.push(payload));
    await listener.query('LISTEN plant_store_changes');
    const other = await openPostgres(url);
    const opener = await openPostgres(url);
    const observe = () => {};
    const joined = [
      await joinPostgresStore(opener.join, { observe }),
      await joinPostgresStore(opener.join, { observe }),
    ];
    const threads = [...joined, opener];
    t.after(async () => {
      for (const store of [...threads, other, { close: () => listener.end() }]) await store.close();
    });

    const startMs = performance.now();
    await Promise.all(
      threads.map(async (store, at) => {
        for (let n = 0; performance.now() < startMs + 1000; n++) {
          await store.create({ id: BigInt(at * 1_000_000 + n), name: 'x' }, BY);
        }
      }),
    );
    await until(() => nodes.length >= 2);
    const durationMs = performance.now() - startMs;
    assert.ok(nodes.length <= durationMs / 100 + 2, `${nodes.length} notifications in ${durationMs} ms`);

    await noMore(nodes);
    const before = nodes.length;
    await joined[0]?.create({ id: -1n, name: 'last' }, BY);
    await until(() => nodes.length > before);
    await noMore(nodes); // nodes that notified each other of notifications would never end
    assert.deepEqual(new Set(nodes), new Set([opener.join.node]));
  },
);

/** Resolves when no notification has arrived for 500 ms. */
async function noMore(received: unknown[]): Promise<void> {
  let [count, sinceMs] = [received.length, performance.now()];
  await until(() => {
    if (received.length > count) [count, sinceMs] = [received.length, performance.now()];
    return performance.now() > sinceMs + 500;
  });
}
