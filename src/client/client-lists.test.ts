// Tests the client's lists, counts, histories and filtered change pages against the server, on both databases.

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { DATABASES } from '../../testing/both-databases.ts';
import { answer, collect, quickClient, rejects, serveInTurn } from '../../testing/scripted-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { SORTS } from '../domain/names.ts';
import { type Change, type ChangePageQuery, createClient, type ListQuery, type PlantStoreClient } from './client.ts';

const PLANTS = [
  { id: 9223372036854775807n, name: 'Äpfel', tag: 'fruit' },
  { id: -1n, name: 'birch', tag: 'tree' },
  { id: 3n, name: 'Clover' },
  { id: 9007199254740993n, name: 'apple tree', tag: 'tree' },
];

for (const [title, databaseOf, needs] of DATABASES) {
  suite(`the client, on ${title}`, needs, () => {
    let server: TestService;
    let client: PlantStoreClient;
    before(async () => {
      const databaseUrl = await databaseOf();
      server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
      client = createClient({ url: server.url, token: server.secret });
      for (const plant of PLANTS) await client.create(plant);
    });

    async function namesOf(query: ListQuery): Promise<string[]> {
      return (await collect(client.walk(query))).map(({ name }) => name);
    }

    test('list() and walk() sort in each order, in pages of any size', async () => {
      const byName = ['Äpfel', 'apple tree', 'birch', 'Clover'].sort((a, b) => fold(a).localeCompare(fold(b), 'en'));
      const byId = ['birch', 'Clover', 'apple tree', 'Äpfel'];
      const byTime = PLANTS.map(({ name }) => name);
      const expected = { id: byId, name: byName, updated: byTime };
      for (const sort of SORTS) {
        const order = expected[sort.replace('-', '') as keyof typeof expected];
        for (const limit of [1, 3, undefined]) {
          assert.deepEqual(await namesOf({ sort, limit }), sort.startsWith('-') ? order.toReversed() : order, sort);
        }
      }
      const { next } = await client.list({ sort: 'name', limit: 1 });
      await rejects(client.list({ sort: '-name', cursor: next }), { code: 'bad_parameter' });
    });

    test('list() finds any of several tags, and plants without a tag', async () => {
      assert.deepEqual(await namesOf({ tag: ['fruit', 'tree'] }), ['birch', 'apple tree', 'Äpfel']);
      assert.deepEqual(await namesOf({ tag: 'tree', untagged: true, sort: 'name' }), ['apple tree', 'birch', 'Clover']);
      assert.deepEqual(await namesOf({ untagged: true }), ['Clover']);
      assert.deepEqual(await namesOf({ untagged: false }), await namesOf({}));
    });

    test('list() and walk() skip the plants of an offset', async () => {
      for (const sort of SORTS) {
        const all = await namesOf({ sort });
        for (const offset of [0, 1, 3, 4, Number.MAX_SAFE_INTEGER]) {
          assert.deepEqual(await namesOf({ sort, offset, limit: 2 }), all.slice(offset), `${sort} ${offset}`);
        }
      }
      assert.deepEqual(await namesOf({ tag: ['fruit', 'tree'], offset: 1 }), ['apple tree', 'Äpfel']);
      const { records, next, total } = await client.list({ offset: 2, limit: 1, count: true });
      assert.deepEqual([records[0]?.name, total], ['apple tree', { plants: 4, isMore: false }]);
      await rejects(client.list({ offset: 2, cursor: next }), { code: 'bad_parameter' });
      for (const offset of [-1, 0.5, 2 ** 53]) await rejects(client.list({ offset }), { code: 'bad_parameter' });
    });

    test('list() with count and count() return the number of matches', async () => {
      const { records, next, total } = await client.list({ limit: 1, count: true, tag: ['tree', 'fruit'] });
      assert.deepEqual([records.length, total], [1, { plants: 3, isMore: false }]);
      assert.equal((await client.list({ limit: 1, cursor: next, tag: ['tree', 'fruit'] })).total, undefined);
      assert.deepEqual(await client.count(), { plants: 4, isMore: false });
      assert.deepEqual(await client.count({ tag: 'tree', untagged: true }), { plants: 3, isMore: false });
      assert.deepEqual(await client.count({ q: 'ap' }), { plants: 2, isMore: false });
    });

    test('history() returns the changes of one plant in pages, with the name of the token', async () => {
      const id = -9223372036854775808n;
      await client.create({ id, name: 'a' });
      for (const name of ['b', 'c', 'd']) await client.patch(id, { name });
      const changes: Change[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await client.history(id, { limit: 3, cursor });
        changes.push(...page.changes);
        if (page.next === undefined) break;
        cursor = page.next;
      }
      assert.deepEqual(
        changes.map(({ type, plant, token, tokenName }) => [type, plant, token, tokenName]),
        ['d', 'c', 'b', 'a'].map((name) => [
          name === 'a' ? 'plant.created' : 'plant.updated',
          { id, name },
          server.tokenId,
          'test',
        ]),
      );
      await client.delete(id);
      await rejects(client.history(id), { code: 'not_found' });
    });

    test('changePage() filters by type, token and time in both orders, and lastSeq() is the newest change', async () => {
      const start = await client.lastSeq();
      const { id: otherId, secret } = await server.addToken({ name: 'other' });
      const other = createClient({ url: server.url, token: secret });
      await client.create({ id: 50n, name: 'x' });
      await other.patch(50n, { name: 'y' });
      await other.delete(50n);
      assert.equal(await client.lastSeq(), start + 3);
      const pages = (query: ChangePageQuery) => walkChanges({ after: start, ...query });
      const all = await pages({});
      assert.deepEqual(
        all.map(({ seq, type, plant, tokenName }) => [seq - start, type, plant.id, tokenName]),
        [
          [1, 'plant.created', 50n, 'test'],
          [2, 'plant.updated', 50n, 'other'],
          [3, 'plant.deleted', 50n, 'other'],
        ],
      );
      assert.deepEqual(await pages({ order: 'desc', limit: 1 }), all.toReversed());
      assert.deepEqual(await pages({ limit: 2 }), all);
      assert.deepEqual(await pages({ type: 'plant.updated' }), [all[1]]);
      assert.deepEqual(await pages({ token: otherId, order: 'desc' }), [all[2], all[1]]);
      const [firstMs = 0, lastMs = 0] = [all[0], all[2]].map((change) => Date.parse(change?.time ?? ''));
      assert.deepEqual(await pages({ sinceMs: firstMs, untilMs: lastMs }), all);
      assert.deepEqual(await pages({ sinceMs: lastMs + 1 }), []);
      assert.deepEqual(await pages({ untilMs: firstMs - 1 }), []);
    });

    async function walkChanges(query: ChangePageQuery): Promise<Change[]> {
      const changes: Change[] = [];
      for (let from: ChangePageQuery = {}; ; ) {
        const page = await client.changePage({ ...query, ...from });
        changes.push(...page.changes);
        if (page.next === undefined) return changes;
        from = query.order === 'desc' ? { before: page.next } : { after: page.next };
      }
    }
  });
}

test('lastSeq() and count() reject a response without their header, instead of returning 0', async () => {
  const { url } = await serveInTurn([answer(200, '[]')]);
  await assert.rejects(quickClient(url).lastSeq(), { code: 'unavailable', message: /Last-Seq/ });
  await assert.rejects(quickClient(url).count(), { code: 'unavailable', message: /Total-Count/ });
  const many = await serveInTurn([answer(200, '[]', { 'total-count': '>100000', 'last-seq': '7' })]);
  assert.deepEqual(await quickClient(many.url).count({ q: 'x' }), { plants: 100_000, isMore: true });
  assert.equal(await quickClient(many.url).lastSeq(), 7);
});

function fold(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
