// Tests of migrate: a store in use moves from SQLite to PostgreSQL, and its clients see the same data.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { send } from '../../testing/request.ts';
import { besideServer, makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createClient } from '../client/client.ts';
import { issueToken } from '../domain/token.ts';

function migrate(from: string, to: string): Promise<Run> {
  return runInProcess(['migrate', '--from', from, '--to', to]);
}

/** Returns responses that must be equal from both stores, except for the ETag of an export, which differs. */
async function readAll({ port, secret }: Pick<TestService, 'port' | 'secret'>): Promise<string[]> {
  const headers = { authorization: `Bearer ${secret}` };
  const paths = ['/plants/export', '/events?limit=1000', '/plants?limit=1000', '/plants?q=pl&tag=t', '/plants/5'];
  const responses = await Promise.all(paths.map((path) => send(port, { path, headers })));
  return responses.map(({ status, headers: { etag }, body }, at) => `${status} ${at > 0 ? etag : ''} ${body}`);
}

suite('migrate', needsPostgres, () => {
  test('copies a store in use, then the newer changes, and servers continue on the copy', async () => {
    const server = await startTestService();
    const client = createClient({ url: server.url, token: server.secret });
    const to = await makeDatabase();
    for (const id of [-(2n ** 63n), 5n, 2n ** 63n - 1n])
      await client.create({ id, name: `Plänt "\\ {} ${id}`, tag: 't' });
    await client.import(Array.from({ length: 300 }, (_, n) => ({ id: BigInt(1000 + n), name: `Plant ${n}`, tag: '' })));
    await client.put(5n, { name: 'Plant NULL', tag: 't' });
    await client.delete(1299n);

    const first = await migrate(server.databaseUrl, to);
    assert.equal(first.status, 0, first.stderr);
    assert.deepEqual(
      { ...JSON.parse(first.stdout), sha256: '' },
      {
        plants: 302,
        changes: 305,
        sha256: '',
        lastChange: 305,
      },
    );

    await client.put(5n, { name: 'Plant five', tag: 't' });
    await client.delete(1000n);
    await client.create({ id: 7n, name: 'Plant seven' });
    const before = await readAll(server);
    await server.stop();
    const second = await migrate(server.databaseUrl, to);
    assert.equal(second.status, 0, second.stderr);
    assert.equal(JSON.parse(second.stdout).lastChange, 308);
    assert.deepEqual(await migrate(server.databaseUrl, to), second, 'a third run reports the same');

    const moved = await startTestService({ databaseUrl: to });
    assert.deepEqual(await readAll({ ...moved, secret: server.secret }), before);
    const { seq } = await createClient({ url: moved.url, token: server.secret }).create({
      id: 8n,
      name: 'Plant eight',
    });
    assert.ok(seq > 308 + 1_000_000_000, `the old store could also assign ${seq}`);
    await moved.stop();

    const late = await migrate(server.databaseUrl, to);
    assert.equal(late.status, 1);
    assert.match(late.stderr, /^plant-store: .*has plants of its own.*\n$/);
  });

  test('a copy of another store is not changed', async () => {
    const [one, other] = [`sqlite:${makeFolder()}/plants.db`, `sqlite:${makeFolder()}/plants.db`];
    const to = await makeDatabase();
    for (const [from, name] of [
      [one, 'one'],
      [other, 'other'],
    ] as const) {
      await besideServer(from, (store) => store.create({ id: 1n, name }, { tokenId: 'cli' }));
    }
    assert.equal((await migrate(one, to)).status, 0);
    const refused = await migrate(other, to);
    assert.match(refused.stderr, /^plant-store: .*copy of another store.*\n$/);
    await besideServer(other, async (store) => {
      await issueToken(store, { name: 'x', scopes: ['admin'], expiresMs: null }, 1);
      await store.create({ id: 2n, name: 'other' }, { tokenId: 'cli' });
      await store.pruneChanges(Date.now() + 1000);
    });
    assert.deepEqual(await migrate(other, to), refused);
    assert.deepEqual(await queryPostgres(to, 'SELECT name FROM plants'), [{ name: 'one' }]);
  });

  for (const [name, from, to, status, message] of [
    ['the wrong direction', 'postgres://x/y', 'sqlite:z.db', 2, 'This command copies SQLite to PostgreSQL'],
    ['an invalid URL', 'sqlite:a.db', 'postgres', 2, '--to must be sqlite:PATH'],
    ['a missing source', 'sqlite:/nowhere/a.db', 'postgres://127.0.0.1:1/y', 1, 'No database at /nowhere/a.db'],
  ] as const) {
    test(`${name} is rejected in one line`, async () => {
      const run = await migrate(from, to);
      assert.equal(run.status, status);
      assert.match(run.stderr, new RegExp(`^plant-store: ${message}.*\n$`));
    });
  }
});
