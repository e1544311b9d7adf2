import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../testing/free-port.ts';
import {
  answer,
  bodyOf,
  collect,
  drop,
  type Handle,
  hang,
  quickClient,
  rejects,
  serve,
  serveInTurn,
} from '../../testing/scripted-server.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService } from '../../testing/service.ts';
import type { Change } from '../domain/change.ts';
import type { ErrorCode } from '../domain/errors.ts';
import { createClient } from './client.ts';

test('follow() neither repeats nor skips a change when connections fail', async () => {
  let disconnect = () => {};
  const untilDropped: Handle = (request) => {
    disconnect = () => drop(request);
  };
  const { url, requests } = await serveInTurn([
    drop,
    stream(event(1), event(2), event(3).slice(0, -1)),
    stream(': nothing new\n\n', drop),
    answer(503),
    stream(event(2), event(3), 'id: 4\nevent: plant.cre', untilDropped),
    stream(': still here\r\n\r\n', event(4)),
  ]);
  const sleeps: number[] = [];
  const changes: Change[] = [];
  for await (const change of quickClient(url, {}, sleeps).follow()) {
    changes.push(change);
    if (change.seq === 3) disconnect();
    if (change.seq === 4) break;
  }
  assert.deepEqual(
    changes.map(({ seq }) => seq),
    [1, 2, 3, 4],
  );
  assert.equal(changes[0]?.plant.id, 9007199254740993n);
  assert.deepEqual(
    requests.map(({ headers }) => headers['last-event-id']),
    [undefined, undefined, '2', '2', '2', '3'],
  );
  assert.deepEqual(sleeps, [100, 100, 200, 400, 100]);
});

test('follow() reconnects after silenceMs without data, or after a timeout without a response', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const passTime = () => t.mock.timers.tick(1000);
  const bodies = [[event(1), passTime], [passTime], [': still here\r\n\r\n', event(2)]];
  const asked: unknown[] = [];
  const sleeps: number[] = [];
  const silent = quickClient(
    'http://127.0.0.1',
    {
      silenceMs: 1000,
      timeoutMs: 1000,
      async fetch(_url, init) {
        asked.push(new Headers(init?.headers).get('last-event-id'));
        if (asked.length > 1) {
          return new Response(bodyOf(...(bodies.shift() ?? [])), { headers: { 'content-type': 'text/event-stream' } });
        }
        passTime();
        return new Promise(() => {});
      },
    },
    sleeps,
  );
  const changes = await collect(silent.follow(), 2);
  assert.deepEqual(
    changes.map(({ seq }) => seq),
    [1, 2],
  );
  assert.deepEqual(asked, [null, null, '1', '1']);
  assert.deepEqual(sleeps, [100, 100, 200]);
});

test('follow() throws errors that reconnecting cannot fix', async () => {
  const verdicts: [status: number, error: number, code: ErrorCode][] = [
    [400, 40003, 'bad_parameter'],
    [401, 40102, 'bad_token'],
    [403, 40301, 'scope_missing'],
    [410, 41000, 'changes_pruned'],
  ];
  for (const [status, error, code] of verdicts) {
    const { url, requests } = await serveInTurn([
      stream(event(1)),
      answer(status, JSON.stringify({ error, message: 'No' })),
    ]);
    await rejects(collect(quickClient(url).follow({ after: 0 })), { code });
    assert.equal(requests.length, 2);
  }
  for (const page of [answer(200, '<h1>Welcome</h1>'), stream('data: <h1>Welcome</h1>\n\n')]) {
    await rejects(collect(quickClient((await serveInTurn([page])).url).follow()), { code: 'unavailable' });
  }
});

test('follow() ends and closes the connection when its signal aborts', async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((request, response) => {
    request.socket.once('close', () => closed.resolve());
    stream(event(1), event(2), hang)(request, response);
  });
  const whileItWaits = new AbortController();
  let heard = 0;
  for await (const _ of createClient({ url, token: 't' }).follow({ signal: whileItWaits.signal })) {
    if (++heard === 2) setImmediate(() => whileItWaits.abort());
  }
  assert.equal(heard, 2);
  await closed.promise;
  assert.deepEqual(await collect(createClient({ url, token: 't' }).follow({ signal: AbortSignal.abort() })), []);

  const abort = new AbortController();
  const seen: number[] = [];
  for await (const { seq } of createClient({ url, token: 't' }).follow({ signal: abort.signal })) {
    seen.push(seq);
    abort.abort();
  }
  assert.deepEqual(seen, [1]);

  const { url: overloaded } = await serveInTurn([answer(503, '', { 'retry-after': '60' })]);
  const whileItSleeps = AbortSignal.timeout(100);
  assert.deepEqual(await collect(createClient({ url: overloaded, token: 't' }).follow({ signal: whileItSleeps })), []);
});

test('follow() resumes after a restart of the server', async () => {
  const folder = makeFolder();
  const env = { PORT: String(await freePort()) };
  const first = await startTestService({ folder, env });
  const follower = createClient({ url: first.url, token: first.secret });
  const seen: bigint[] = [];
  await follower.create({ id: 1n, name: 'before' });
  for await (const { plant } of follower.follow({ signal: AbortSignal.timeout(20_000) })) {
    seen.push(plant.id);
    if (plant.id === 3n) break;
    if (plant.id === 2n) {
      await first.stop();
      await startTestService({ folder, env });
    }
    await follower.create({ id: plant.id + 1n, name: 'next' });
  }
  assert.deepEqual(seen, [1n, 2n, 3n]);
});

/** Sends the text parts. If the last part is a function, it is called instead of ending the response. */
function stream(...parts: (string | Handle)[]): Handle {
  return (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
    const last = parts.at(-1);
    const sent = parts.filter((part) => typeof part === 'string').join('');
    if (typeof last === 'function') response.write(sent, () => last(request, response));
    else response.end(sent);
  };
}

function event(seq: number): string {
  const plant = '{"id":9007199254740993,"name":"é"}';
  const data = `{"seq":${seq},"type":"plant.created","time":"2026-01-01T00:00:00.000Z","plant":${plant},"token":"t"}`;
  return `id: ${seq}\nevent: plant.created\ndata: ${data}\n\n`;
}
