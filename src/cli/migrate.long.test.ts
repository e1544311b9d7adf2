// Tests of migrate: tokens and webhooks, unfinished copies, and concurrent writes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { post } from '../../testing/request.ts';
import { besideServer, LAUNCHER, makeFolder } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import { printAttempt } from '../domain/attempt-log.ts';
import type { Store } from '../domain/store.ts';
import { issueToken, renewSecret } from '../domain/token.ts';
import { hashSecret } from '../domain/token-secret.ts';

const SENT = { format: 'event', signature: 'v1,AA==', userAgent: 'plant-store/0' } as const;

function migrate(from: string, to: string): Promise<Run> {
  return runInProcess(['migrate', '--from', from, '--to', to]);
}

suite('migrate', needsPostgres, () => {
  test('webhooks are copied with their secrets, positions and deliveries', async () => {
    const from = `sqlite:${makeFolder()}/plants.db`;
    const to = await makeDatabase();
    const read = async (store: Store) => {
      const webhooks = await store.listWebhooks();
      const deliveries = await Promise.all(webhooks.map(({ id }) => store.listDeliveries(id)));
      return { webhooks, deliveries, logged: await store.getDelivery('whk_1', 1500) };
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
          ...(id === 'whk_2' && { format: 'event', name: 'Été' }),
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
        attemptLog: n % 2 ? printAttempt({ ...SENT, timeMs: n, durationMs: n, answer: '\n"é' }) : '',
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
    assert.deepEqual(
      before.webhooks.map(({ format, name }) => [format, name]),
      [
        ['plant', null],
        ['event', 'Été'],
      ],
    );
    assert.deepEqual(before.logged.attempts, [{ ...SENT, timeMs: 1499, durationMs: 1499, answer: '\n"é' }]);
  });

  test('no server starts on an interrupted copy, and a second run completes it', async () => {
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
    await assert.rejects(startTestService({ databaseUrl: to }), /"?plant-store migrate"? again/);
    const { status, stdout } = await migrate(from, to);
    assert.equal(status, 0);
    assert.equal(JSON.parse(stdout).plants, 8000);
    assert.equal((await queryPostgres(to, 'SELECT count(*) FROM words'))[0]?.count, 32_000n);
  });

  test('a node on the target stores nothing during the copy, and loses nothing', async () => {
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
    const responses = new Map<number, number>();
    let done = false;
    const writing = (async () => {
      for (let id = 30_000; !done; id++) {
        const { status } = await post(node, `{"id":${id},"name":"of the node"}`);
        responses.set(status, (responses.get(status) ?? 0) + 1);
        if (status === 200) return id; // the target now has its own plants and is no longer a copy
      }
      return undefined;
    })();
    const run = await migrate(from, to);
    done = true;
    const stored = await writing;
    await node.stop();
    const own = await queryPostgres(to, 'SELECT id FROM plants WHERE id >= 30000');
    assert.deepEqual(own, stored === undefined ? [] : [{ id: BigInt(stored) }]);
    assert.ok([...responses.keys()].every((status) => status === 200 || status === 503));
    if (run.status === 1) assert.match(run.stderr, /has plants of its own/);
    else assert.equal((await queryPostgres(to, 'SELECT FROM plants WHERE id = 20000')).length, 1);
  });

  test('a token that was revoked on the target stays revoked, and one that was created there stays valid', async () => {
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

  test('pruned changes stay pruned', async () => {
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

  test('tokens are copied with their rate, last use and the secrets that were rotated on either side', async () => {
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
    assert.equal((await find(to, b.secret))?.expiresMs, 2, 'a secret that expired on the target stays expired');
  });

  test('an unfinished copy of a store with tokens is not mistaken for a copy of a store without tokens', async () => {
    const [one, other] = [`sqlite:${makeFolder()}/plants.db`, `sqlite:${makeFolder()}/plants.db`];
    const to = await makeDatabase();
    await besideServer(one, (store) => issueToken(store, { name: 'one', scopes: ['admin'], expiresMs: null }, 1));
    await besideServer(other, (store) => store.create({ id: 1n, name: 'other' }, { tokenId: 'cli' }));
    assert.equal((await migrate(one, to)).status, 0);
    await queryPostgres(to, 'UPDATE copied SET seq = -1');
    assert.match((await migrate(other, to)).stderr, /holds a copy of another store/);
    assert.equal((await migrate(one, to)).status, 0);
  });
});
