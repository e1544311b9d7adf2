// plant-store migrate: a store in use moves from SQLite to PostgreSQL, and its clients notice nothing.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { post, send } from '../../testing/request.ts';
import { besideServer, LAUNCHER, makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createClient } from '../client/client.ts';
import type { Store } from '../domain/store.ts';
import { issueToken, renewSecret } from '../domain/token.ts';
import { hashSecret } from '../domain/token-secret.ts';

function migrate(from: string, to: string): Promise<Run> {
  return runInProcess(['migrate', '--from', from, '--to', to]);
}

/** All that both stores must answer alike. The ETag of an export is a number of the store that gives it. */
async function readAll({ port, secret }: Pick<TestService, 'port' | 'secret'>): Promise<string[]> {
  const headers = { authorization: `Bearer ${secret}` };
  const paths = ['/plants/export', '/events?limit=1000', '/plants?limit=1000', '/plants?q=pl&tag=t', '/plants/5'];
  const answers = await Promise.all(paths.map((path) => send(port, { path, headers })));
  return answers.map(({ status, headers: { etag }, body }, at) => `${status} ${at > 0 ? etag : ''} ${body}`);
}

suite('migrate', needsPostgres, () => {
  test('brings a store in use over, then what has come since; then servers go on where it was', async () => {
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
    assert.deepEqual(await migrate(server.databaseUrl, to), second, 'a third run finds the same');

    const moved = await startTestService({ databaseUrl: to });
    assert.deepEqual(await readAll({ ...moved, secret: server.secret }), before);
    const { seq } = await createClient({ url: moved.url, token: server.secret }).create({
      id: 8n,
      name: 'Plant eight',
    });
    assert.ok(seq > 308 + 1_000_000_000, `the old store, if it goes on, may give ${seq}, too`);
    await moved.stop();

    const late = await migrate(server.databaseUrl, to);
    assert.equal(late.status, 1);
    assert.equal(
      late.stderr,
      'plant-store: The database has plants of its own: take an empty one, or a copy that nobody has written to\n',
    );
  });

  test('webhooks come with their secrets, positions and deliveries', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    const read = async (store: Store) => {
      const webhooks = await store.listWebhooks();
      return { webhooks, deliveries: await Promise.all(webhooks.map(({ id }) => store.listDeliveries(id))) };
    };
    const before = await besideServer(from, async (store) => {
      for (const id of ['whk_1', 'whk_2']) {
        const url = `https://example.com/${id}`;
        await store.addWebhook({
          id,
          url,
          events: ['plant.created', 'plant.deleted'],
          secret: 'whsec_AA==',
          createdMs: 5,
        });
      }
      await store.import(
        Array.from({ length: 1500 }, (_, n) => ({ id: BigInt(n), name: 'x' })),
        { tokenId: 'cli' },
      );
      await store.rotateSecret('whk_2', 'whsec_BB==', 2 ** 41);
      const records = Array.from({ length: 1500 }, (_, n) => ({
        seq: n + 1,
        plantId: BigInt(n),
        status: (['waiting', 'delivered', 'dead'] as const)[n % 3] ?? 'dead',
        attempts: n % 10,
        dueMs: 2 ** 41 + n,
        timeMs: n % 2 ? 2 ** 40 : null,
        code: n % 4 ? 500 : null,
        answer: n % 4 ? '{"\\ NULL": "Été"}' : null,
        error: n % 5 ? 'It failed' : null,
      }));
      const failing = { sinceMs: 7, reason: 'It "failed"' };
      const progress = { id: 'whk_1', epoch: 0, position: 1500, failing, disabledMs: null, records };
      assert.deepEqual(await store.recordDeliveries('node', [progress]), ['whk_1']);
      await store.replay('whk_1', { from: 10, to: 20 }, 9);
      return read(store);
    });
    for (const _ of ['once', 'and again']) {
      const { status, stderr } = await migrate(from, to);
      assert.equal(status, 0, stderr);
      assert.deepEqual(await besideServer(to, read), before);
    }
    assert.deepEqual(before.webhooks[0]?.replay, { to: 20, resume: 1500 });
    assert.equal(before.deliveries[0]?.length, 100);
  });

  test('a copy that was broken off is used by no server, and a second run finishes it', async () => {
    const folder = makeFolder();
    const from = `sqlite:${folder}/plants.db`;
    const to = await makeDatabase();
    await besideServer(from, (store) =>
      store.import(
        Array.from({ length: 8000 }, (_, n) => ({ id: BigInt(n), name: `Plant number ${n}`, tag: 'some' })),
        { tokenId: 'cli' },
      ),
    );
    const child = spawn(process.execPath, [LAUNCHER, 'migrate', '--from', from, '--to', to], {
      env: { PATH: process.env.PATH },
      stdio: 'ignore',
    });
    const ended = once(child, 'close');
    for (let stored = 0; stored === 0; ) {
      await sleep(5);
      stored = Number((await queryPostgres(to, 'SELECT count(*) FROM plants').catch(() => []))[0]?.count ?? 0);
    }
    child.kill('SIGKILL');
    await ended;
    await assert.rejects(
      startTestService({ databaseUrl: to }),
      /A copy into this database is not finished: run "plant-store migrate" again/,
    );
    const { status, stdout } = await migrate(from, to);
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).plants, 8000);
    assert.equal((await queryPostgres(to, 'SELECT count(*) FROM words'))[0]?.count, 32_000n);
  });

  test('a node that runs on the target stores nothing meanwhile, and loses nothing', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    await besideServer(from, async (store) => {
      await store.import(
        Array.from({ length: 4000 }, (_, n) => ({ id: BigInt(n), name: `Plant ${n}` })),
        { tokenId: 'cli' },
      );
      await issueToken(store, { name: 'old', scopes: ['admin'], expiresMs: null }, 1);
    });
    assert.equal((await migrate(from, to)).status, 0);
    const node = await startTestService({ databaseUrl: to });
    await besideServer(from, (store) => store.create({ id: 20_000n, name: 'late' }, { tokenId: 'cli' }));
    const answers = new Map<number, number>();
    let done = false;
    const writing = (async () => {
      for (let id = 30_000; !done; id++) {
        const { status } = await post(node, `{"id":${id},"name":"of the node"}`);
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status === 200) return id; // from now on it is no copy any more
      }
      return undefined;
    })();
    const run = await migrate(from, to);
    done = true;
    const stored = await writing;
    await node.stop();
    const own = await queryPostgres(to, 'SELECT id FROM plants WHERE id >= 30000');
    assert.deepEqual(own, stored === undefined ? [] : [{ id: BigInt(stored) }]);
    assert.ok([...answers.keys()].every((status) => status === 200 || status === 503));
    if (run.status === 1) assert.match(run.stderr, /The database has plants of its own/);
    else assert.equal((await queryPostgres(to, 'SELECT FROM plants WHERE id = 20000')).length, 1);
  });

  test('a token that was revoked or made on the target stays so', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    const issue = (url: string, name: string) =>
      besideServer(url, (store) => issueToken(store, { name, scopes: ['admin'], expiresMs: null }, 1));
    const { token } = await issue(from, 'old');
    assert.equal((await migrate(from, to)).status, 0);
    await issue(to, 'new');
    await besideServer(to, (store) => store.revokeToken(token.id, 5));
    assert.equal((await migrate(from, to)).status, 0);
    const tokens = await besideServer(to, (store) => store.listTokens());
    assert.deepEqual(
      tokens.map(({ name, revokedMs }) => ({ name, revokedMs })).sort((a, b) => (a.name < b.name ? -1 : 1)),
      [
        { name: 'new', revokedMs: null },
        { name: 'old', revokedMs: 5 },
      ],
    );
  });

  test('numbers that were pruned stay pruned', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    await besideServer(from, async (store) => {
      for (const id of [1n, 2n]) await store.create({ id, name: 'x' }, { tokenId: 'cli' });
      await store.pruneChanges(Date.now() + 1000);
    });
    assert.equal((await migrate(from, to)).status, 0);
    await besideServer(to, async (store) => {
      await assert.rejects(store.changes({ after: 1 }), { code: 'changes_pruned' });
      assert.ok((await store.create({ id: 3n, name: 'x' }, { tokenId: 'cli' })).seq > 2 + 1_000_000_000);
    });
  });

  test('a copy of another store is left as it is', async () => {
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
    assert.equal(refused.stderr, 'plant-store: The database holds a copy of another store: take an empty one\n');
    await besideServer(other, async (store) => {
      await issueToken(store, { name: 'x', scopes: ['admin'], expiresMs: null }, 1);
      await store.create({ id: 2n, name: 'other' }, { tokenId: 'cli' });
      await store.pruneChanges(Date.now() + 1000);
    });
    assert.deepEqual(await migrate(other, to), refused);
    assert.deepEqual(await queryPostgres(to, 'SELECT name FROM plants'), [{ name: 'one' }]);
  });

  test('tokens come with their rate and use, and with the secrets that were replaced, on either side', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    const rate = { count: 10, periodMs: 1000 };
    const issue = (name: string) =>
      besideServer(from, (store) => issueToken(store, { name, scopes: ['admin'], expiresMs: null, rate }, 1));
    const renew = (url: string, id: string, graceMs: number) =>
      besideServer(url, async (store) => (await renewSecret(store, id, 2, graceMs)).secret);
    const find = (url: string, secret: string) => besideServer(url, (store) => store.findToken(hashSecret(secret)));
    const [a, b] = [await issue('a'), await issue('b')];
    await besideServer(from, (store) => store.noteUse([a.token.id], 60_000));
    const second = await renew(from, a.token.id, 1e15);
    assert.equal((await migrate(from, to)).status, 0);
    for (const secret of [a.secret, second, b.secret])
      assert.deepEqual(await find(to, secret), await find(from, secret));
    assert.deepEqual((await find(to, second))?.rate, rate);
    assert.equal((await find(to, a.secret))?.expiresMs, 2 + 1e15);

    const third = await renew(from, a.token.id, 1e15);
    const ofTarget = await renew(to, b.token.id, 0);
    assert.equal((await migrate(from, to)).status, 0);
    assert.equal((await find(to, third))?.id, a.token.id);
    assert.equal((await find(to, ofTarget))?.id, b.token.id);
    assert.equal((await find(to, b.secret))?.expiresMs, 2, 'what was ended on the target stays so');
  });

  test('an unfinished copy of a store with tokens is not taken for one of a store without', async () => {
    const [one, other] = [`sqlite:${makeFolder()}/plants.db`, `sqlite:${makeFolder()}/plants.db`];
    const to = await makeDatabase();
    await besideServer(one, (store) => issueToken(store, { name: 'one', scopes: ['admin'], expiresMs: null }, 1));
    await besideServer(other, (store) => store.create({ id: 1n, name: 'other' }, { tokenId: 'cli' }));
    assert.equal((await migrate(one, to)).status, 0);
    await queryPostgres(to, 'UPDATE copied SET seq = -1');
    assert.match((await migrate(other, to)).stderr, /holds a copy of another store/);
    assert.equal((await migrate(one, to)).status, 0);
  });

  for (const [name, from, to, status, says] of [
    ['the wrong way round', 'postgres://x/y', 'sqlite:z.db', 2, 'It goes from SQLite to PostgreSQL'],
    ['what is no URL', 'sqlite:a.db', 'postgres', 2, '--to must be sqlite:PATH'],
    ['from nothing', 'sqlite:/nowhere/a.db', 'postgres://127.0.0.1:1/y', 1, 'There is no database at /nowhere/a.db'],
  ] as const) {
    test(`${name} is refused in one line`, async () => {
      const run = await migrate(from, to);
      assert.equal(run.status, status);
      assert.match(run.stderr, new RegExp(`^plant-store: ${says}.*\n$`));
    });
  }
});
