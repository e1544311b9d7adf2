// Tests of the change log as an event stream. events.long.test.ts tests restarts of the process and its memory.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASES } from '../../../testing/both-databases.ts';
import { freePort } from '../../../testing/free-port.ts';
import { startProxy } from '../../../testing/proxy.ts';
import { send } from '../../../testing/request.ts';
import { besideServer, makeFolder } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { quickEnough, until } from '../../../testing/until.ts';
import { createClient } from '../../client/client.ts';
import { SCOPES } from '../../domain/names.ts';

const CHANGES = 1000;

suite('following the change log', { concurrency: true }, () => {
  test('a client follows 1,000 changes across a restart and a dropped connection, without gaps or repeats', async () => {
    const folder = makeFolder();
    const port = await freePort();
    const start = () => startTestService({ folder, env: { PORT: String(port) } });
    let server = await start();
    const { secret } = server;
    const proxy = await startProxy(port);
    const follower = createClient({ url: `http://127.0.0.1:${proxy.port}`, token: secret, retries: 1000 });
    const writer = createClient({ url: `http://127.0.0.1:${port}`, token: secret, retries: 1000 });
    const end = new AbortController();
    const seen: { seq: number; id: bigint }[] = [];

    const written = (async () => {
      for (let at = 0; at < CHANGES; at += 50) {
        await writer.import(Array.from({ length: 50 }, (_, n) => ({ id: BigInt(at + n), name: `Plant ${at + n}` })));
        if (at === 300) proxy.drop();
        if (at === 600) {
          await server.stop();
          server = await start();
        }
      }
    })();
    for await (const { seq, plant } of follower.follow({ after: 0, signal: end.signal })) {
      seen.push({ seq, id: plant.id });
      if (seen.length === CHANGES) setTimeout(() => end.abort(), 300); // a repeated change would arrive late
    }
    await written;
    assert.deepEqual(
      seen,
      Array.from({ length: CHANGES }, (_, n) => ({ seq: n + 1, id: BigInt(n) })),
    );
    assert.ok(proxy.connections >= 3, `${proxy.connections} connections`);
    proxy.close();
    await server.stop();
  });

  test('a stream gets a comment line immediately and at an interval, and ends cleanly when the server stops', async () => {
    const server = await startTestService({ timeouts: { eventKeepAliveMs: 50 } });
    const { response, text } = await follow(server);
    assert.equal(response.headers['content-type'], 'text/event-stream');
    assert.equal(response.headers['cache-control'], 'no-store');
    await until(() => text() === ': changes of Plant Store\n\n: still here\n\n: still here\n\n');
    const ended = once(response, 'end');
    await server.stop();
    await ended;
    assert.equal(response.complete, true);
  });

  test('a change made by another process reaches a stream within a second', async () => {
    const server = await startTestService();
    const { text } = await follow(server);
    await until(() => text() !== '');
    let id = 9223372036854775807n;
    await quickEnough(1000, async () => {
      await besideServer(server.databaseUrl, (store) => store.create({ id, name: 'x' }, { tokenId: 'cli' }));
      const startMs = performance.now();
      await until(() => text().includes(`"id":${id},`));
      id--;
      return performance.now() - startMs;
    });
    assert.match(
      text(),
      /\n\nid: 1\nevent: plant\.created\ndata: {"seq":1,.*"id":9223372036854775807,.*"token":"cli"}\n\n/,
    );
    await server.stop();
  });

  for (const [title, databaseOf, needs] of DATABASES) {
    test(`an admin prunes the changes of an age, on ${title}`, needs, async () => {
      const databaseUrl = await databaseOf();
      const server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
      const { secret } = await server.addToken({ scopes: [...SCOPES] });
      const client = createClient({ url: server.url, token: secret });
      for (let id = 0n; id < 3n; id++) await client.create({ id, name: 'x' });
      assert.deepEqual(await client.prune({ olderThan: '1h' }), { pruned: 0 });
      await sleep(1001);
      assert.deepEqual(await client.prune({ olderThan: '1s' }), { pruned: 3 });
      assert.deepEqual([await client.changes(), await client.lastSeq()], [[], 3]);
      assert.equal((await client.get(2n)).seq, 3);
      for (const body of ['{}', '{"olderThan":"soon"}', '{"olderThan":"90d","x":1}', '{"olderThan":90}', '[]']) {
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
        const answer = await send(server.port, { method: 'POST', path: '/events/prune', headers, body });
        assert.deepEqual([answer.status, JSON.parse(answer.body).error], [400, 40002], answer.body);
      }
      await server.stop();
    });
  }

  test('following from a pruned number fails, and starting over works', async () => {
    const server = await startTestService();
    const client = createClient({ url: server.url, token: server.secret });
    for (let id = 0n; id < 5n; id++) await client.create({ id, name: 'x' });
    assert.equal(await besideServer(server.databaseUrl, (store) => store.pruneChanges(Date.now() + 1000)), 5);
    await client.create({ id: 5n, name: 'x' });
    assert.deepEqual(
      (await client.changes()).map(({ seq }) => seq),
      [6],
    );
    assert.deepEqual(
      (await client.changes({ after: 5 })).map(({ seq }) => seq),
      [6],
    );
    await assert.rejects(client.changes({ after: 4 }), { code: 'changes_pruned' });
    await assert.rejects(
      async () => {
        for await (const _ of client.follow({ after: 0 })) assert.fail('no change can be shown');
      },
      { code: 'changes_pruned' },
    );
    await server.stop();
  });

  test('a token without plants:read cannot follow the change log', async () => {
    const server = await startTestService();
    const { secret } = await server.addToken({ scopes: ['plants:write'] });
    await assert.rejects(createClient({ url: server.url, token: secret }).changes(), { code: 'scope_missing' });
    await server.stop();
  });
});

async function follow({ port, secret }: TestService): Promise<{ response: IncomingMessage; text(): string }> {
  const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
  const [response] = (await once(
    get({ host: '127.0.0.1', port, path: '/events', headers, agent: false }),
    'response',
  )) as [IncomingMessage];
  let text = '';
  response.on('data', (chunk) => {
    text += chunk;
  });
  response.on('error', () => {});
  return { response, text: () => text };
}
