// Tests writes of several threads and nodes to one id. Each store here has its own write queue, as each thread has.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { makeDatabase, needsPostgres, openPostgres } from '../../../testing/postgres.ts';
import type { Change } from '../../domain/change.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import type { Store } from '../../domain/store.ts';
import { joinPostgresStore, type PostgresStore } from './store.ts';

const BY = { tokenId: 'tok_1' };

suite('writes of several threads and nodes to one id', needsPostgres, () => {
  const stores: Store[] = [];
  before(async () => {
    const url = await makeDatabase();
    const nodes = [await openPostgres(url), await openPostgres(url)];
    const threads = nodes.map(({ join }: PostgresStore) => joinPostgresStore(join, { observe: () => {} }));
    stores.push(...(await Promise.all(threads)), ...nodes); // in the order in which they close
  });
  after(async () => {
    for (const store of stores) await store.close();
  });

  /** Runs `work` for each of 16 clients of each store, all at the same time. */
  function eachClient(work: (store: Store, client: string) => Promise<void>): Promise<unknown> {
    const clients = stores.flatMap((store, at) =>
      Array.from({ length: 16 }, (_, n) => ({ store, client: `${at}/${n}` })),
    );
    return Promise.all(clients.map(({ store, client }) => work(store, client)));
  }

  async function historyOf(id: bigint): Promise<Change[]> {
    const all = await Array.fromAsync(changesOf(stores[0] as Store));
    return all.filter(({ plant }) => plant.id === id);
  }

  test('all writes succeed, in the order of each client, with one change each', async () => {
    const written = new Map<string, number>();
    await eachClient(async (store, client) => {
      for (let n = 0; n < 8; n++) {
        const name = `${client} ${n}`;
        const { record, seq } = await store.put(1n, { name }, BY);
        assert.equal(record.name, name);
        written.set(name, seq);
      }
    });
    const history = await historyOf(1n);
    assert.equal(history.length, stores.length * 16 * 8);
    assert.deepEqual(new Map(history.map(({ plant, seq }) => [plant.name, seq])), written);
    const numberOf = new Map<string, number>();
    for (const { plant } of history) {
      const [client = '', n] = plant.name.split(' ');
      assert.equal(Number(n), numberOf.get(client) ?? 0, `the writes of client ${client} changed their order`);
      numberOf.set(client, Number(n) + 1);
    }
  });

  test('one write per version passes an If-Match', async () => {
    await stores[0]?.put(2n, { name: '0' }, BY);
    let passed = 0;
    await eachClient(async (store) => {
      for (let n = 0; n < 4; n++) {
        const { record, seq } = await store.get(2n);
        const next = { name: String(Number(record.name) + 1) };
        const isPassed = await unlessRejected(store.put(2n, next, { ...BY, ifMatch: [seq] }), ['condition_failed']);
        if (isPassed) passed++;
      }
    });
    assert.equal((await stores[0]?.get(2n))?.record.name, String(passed));
    assert.equal((await historyOf(2n)).length, 1 + passed);
  });

  test('concurrent creates, changes and deletes succeed or are rejected, and never fail', async () => {
    let effective = 0;
    await eachClient(async (store, client) => {
      for (let n = 0; n < 2; n++) {
        const create = store.create({ id: 3n, name: `${client} ${n}` }, BY);
        const patch = store.patch(3n, { tag: `${client} ${n}` }, BY);
        const remove = store.delete(3n, BY);
        for (const write of [create, patch, remove]) {
          if (await unlessRejected(write, ['id_taken', 'not_found'])) effective++;
        }
      }
    });
    const types = (await historyOf(3n)).map(({ type }) => type);
    assert.equal(types.length, effective);
    for (const [at, type] of types.entries()) {
      const before = types[at - 1] ?? 'plant.deleted';
      assert.equal(type === 'plant.created', before === 'plant.deleted', `${type} follows ${before}`);
    }
  });
});

/** Returns true if the write succeeds, and false if it is rejected with one of these errors. */
async function unlessRejected(write: Promise<unknown>, codes: string[]): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof PlantStoreError && codes.includes(error.code)) return false;
    throw error;
  }
}

async function* changesOf(store: Store): AsyncGenerator<Change> {
  for (let after = 0; ; ) {
    const page = await store.changes({ after, limit: 1000 });
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.seq;
  }
}
