// The client against the real server, and against servers and networks that fail. That it is a store like any other
// is for the store's own tests.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse, request as sendOn } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../testing/free-port.ts';
import { addToken, makeFolder, startServer, type TestServer } from '../../testing/server.ts';
import type { ChangeLog } from '../domain/change.ts';
import type { ErrorCode, ErrorDetail } from '../domain/errors.ts';
import type { NewPlant, PlantStore } from '../domain/plant.ts';
import { type ClientOptions, createClient, type PlantStoreClient, PlantStoreError } from './client.ts';

const LIMITS = [-9223372036854775808n, -9007199254740993n, 0n, 9007199254740993n, 9223372036854775807n];
const RECORD = '{"id":5,"name":"x","created":"2026-01-01T00:00:00.000Z","updated":"2026-01-01T00:00:00.000Z"}';

let server: TestServer;
let client: PlantStoreClient;
let nextId = 1_000_000n;
before(async () => {
  server = await startServer();
  client = createClient({ url: server.url, token: server.secret });
});

test('The client is a PlantStore and a ChangeLog, with exact ids everywhere', async () => {
  const { url, secret } = await startServer();
  const store: PlantStore & ChangeLog = createClient({ url, token: secret });
  const by = { tokenId: 'has no effect' };
  const plants: NewPlant[] = LIMITS.map((id) => ({ id, name: `Été 🌵\n\u2028 1.5 ${id}`, tag: '' }));
  for (const plant of plants) assert.equal((await store.create(plant, by)).replayed, false);
  assert.equal((await store.create(plants[0] as NewPlant, by)).replayed, true);

  const records = (await store.list()).records.map(({ created, updated, ...plant }) => plant);
  assert.deepEqual(records, plants);
  for (const { id, name } of plants) assert.equal((await store.get(id)).record.name, name);
  const snapshot = await store.export();
  assert.deepEqual(await collect(snapshot.plants), plants);
  assert.equal(snapshot.seq, 5);
  const changes = await store.changes();
  assert.deepEqual(
    changes.map(({ plant }) => plant),
    plants,
  );
  assert.deepEqual(await collect(store.follow(), 5), changes);
});

test('walk() gives the records of all pages, from the cursor on if there is one', async () => {
  const plants = somePlants(7, 'walked');
  await client.import(plants);
  const ids = plants.map(({ id }) => id);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked', limit: 2 })), ids);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked' })), ids);
  const { next, records } = await client.list({ tag: 'walked', limit: 3 });
  assert.equal(records.length, 3);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked', cursor: next, limit: 2 })), ids.slice(3));
  assert.deepEqual(await client.list({ tag: 'nobody has it' }), { records: [] });
});

test('import() names every line that fails, however many there are', async () => {
  const taken = somePlants(2300);
  assert.deepEqual(await client.import(taken), { created: 2300, replayed: 0, failed: 0, errors: [] });
  const plants = taken.map((plant, at) => (at % 100 === 0 ? plant : { ...plant, name: 'other' }));
  const { errors, ...counts } = await client.import(plants);
  assert.deepEqual(counts, { created: 0, replayed: 23, failed: 2277 });
  assert.deepEqual(
    errors.map(({ line }) => line),
    plants.flatMap(({ name }, at) => (name === 'other' ? [at + 1] : [])),
  );
  assert.ok(errors.every(({ error }) => error instanceof PlantStoreError && error.code === 'id_taken'));
});

test('import() sends about a mebibyte at once', async () => {
  const sizes: number[] = [];
  const measuring = createClient({
    url: server.url,
    token: server.secret,
    fetch(url, init) {
      sizes.push(String(init?.body).length);
      return fetch(url, init);
    },
  });
  const plants = somePlants(50).map((plant) => ({ ...plant, name: 'x'.repeat(60_000) }));
  assert.equal((await measuring.import(plants)).created, 50);
  assert.equal(sizes.length, 3);
  assert.ok(Math.max(...sizes) < 1024 * 1024 + 64 * 1024);
});

test('put(), patch() and delete() send their conditions', async () => {
  const [{ id }] = somePlants(1) as [NewPlant];
  const first = await client.put(id, { name: 'a', tag: 't' }, { ifNoneMatch: '*' });
  const second = await client.patch(id, { name: 'b', tag: null }, { ifMatch: [1, first.seq], ifNoneMatch: [] });
  assert.deepEqual({ ...second.record, created: 0, updated: 0 }, { id, name: 'b', created: 0, updated: 0 });
  const failed = { code: 'condition_failed', detail: { seq: second.seq } } as const;
  await rejects(client.put(id, { name: 'c' }, { ifNoneMatch: '*' }), failed);
  await rejects(client.patch(id, { name: 'c' }, { ifMatch: [first.seq] }), failed);
  await rejects(client.patch(id, { name: 'c' }, { ifMatch: [] }), failed);
  await rejects(client.delete(id, { ifNoneMatch: [second.seq] }), failed);
  await client.delete(id, { ifMatch: '*' });
  await rejects(client.put(id, { name: 'c' }, { ifMatch: '*' }), { code: 'condition_failed', detail: {} });
});

test('Every refusal of the server is thrown as the error that it is', async () => {
  const [plant] = somePlants(1) as [NewPlant];
  await client.create(plant);
  const { secret } = await addToken(server.databaseUrl, { scopes: ['plants:read'] });
  const reading = createClient({ url: server.url, token: secret });
  const elsewhere = createClient({ url: `${server.url}/nowhere`, token: server.secret });

  await rejects(client.create({ ...plant, name: 'other' }), { code: 'id_taken' });
  await rejects(client.create({ ...plant, name: '\0' }), { code: 'not_valid' });
  await rejects(client.create({ ...plant, name: 'x'.repeat(70_000) }), { code: 'body_too_large' });
  await rejects(client.get(-1n), { code: 'not_found' });
  await rejects(client.list({ cursor: 'x' }), { code: 'bad_parameter' });
  await rejects(reading.create(plant), { code: 'scope_missing', detail: { scope: 'plants:write' } });
  await rejects(createClient({ url: server.url, token: 'nope' }).get(1n), { code: 'bad_token' });
  await rejects(createClient({ url: server.url, token: 'nope' }).import([plant]), { code: 'bad_token' });
  await rejects(elsewhere.get(1n), { code: 'no_such_path' });
});

test('A create whose answer is lost is sent again, and stored once', async () => {
  let requests = 0;
  const url = await serve((request, response) => {
    const forwarded = sendOn(
      server.url + request.url,
      { method: request.method, headers: request.headers },
      (answer) => {
        if (++requests === 1) answer.resume().on('end', () => request.socket.destroy());
        else answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      },
    );
    request.pipe(forwarded);
  });
  const proxied = quickClient(url, { token: server.secret });
  const [plant] = somePlants(1, 'lost') as [NewPlant];
  const { seq, replayed } = await proxied.create(plant);
  assert.deepEqual({ seq, replayed }, { seq: (await client.get(plant.id)).seq, replayed: true });
  assert.deepEqual(await idsOf(client.walk({ tag: 'lost' })), [plant.id]);
  assert.equal(requests, 2);
});

test('A read is sent again after a connection that was dropped, an overload and a proxy without its service', async () => {
  const faults = [
    drop,
    answer(502, '<h1>Bad Gateway</h1>'),
    answer(429),
    answer(408),
    answer(504),
    answer(200, RECORD),
  ];
  const { url, requests } = await serveInTurn(faults);
  const sleeps: number[] = [];
  assert.equal((await quickClient(url, {}, sleeps).get(5n)).record.name, 'x');
  assert.equal(requests.length, 6);
  assert.deepEqual(sleeps, [100, 200, 400, 800, 1600]);
});

test('What is over the rate has done nothing: also a change is sent again, after the time that was asked for', async () => {
  const over = answer(429, '{"error":42900,"message":"Later"}', { 'retry-after': '2' });
  const { url, requests } = await serveInTurn([over, answer(204), over]);
  const sleeps: number[] = [];
  await quickClient(url, {}, sleeps).delete(5n);
  assert.deepEqual([requests.length, sleeps], [2, [2100]]);
  await rejects(quickClient(url, { retries: 0 }).delete(5n), { code: 'over_rate' });
});

test('Retry-After is the least that is waited, in seconds or to a date', async () => {
  const date = 'Thu, 01 Jan 2026 00:00:07 GMT';
  const { url } = await serveInTurn([
    answer(503, '', { 'retry-after': '3' }),
    answer(503, '', { 'retry-after': date }),
    answer(503, '', { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }),
    answer(503, '', { 'retry-after': 'soon' }),
    answer(200, RECORD),
  ]);
  const sleeps: number[] = [];
  await quickClient(url, { clock: () => Date.parse(date) - 7000 }, sleeps).get(5n);
  assert.deepEqual(sleeps, [3100, 7200, 400, 800]);
});

test('After the last retry the last failure is thrown', async () => {
  const overloaded = await serveInTurn([answer(503, '{"error":50300,"message":"Too much"}')]);
  const sleeps: number[] = [];
  await rejects(quickClient(overloaded.url, { retries: 9 }, sleeps).get(5n), {
    code: 'unavailable',
    message: 'Too much',
  });
  assert.equal(overloaded.requests.length, 10);
  assert.deepEqual(sleeps.slice(-3), [6400, 10_000, 10_000]);

  const dropping = await serveInTurn([drop]);
  const error = await rejects(quickClient(dropping.url).create({ id: 5n, name: 'x' }), { code: 'unavailable' });
  assert.ok(error.cause instanceof TypeError);
  assert.equal(dropping.requests.length, 6);
});

test('put(), patch() and delete() are sent once only', async () => {
  for (const fault of [drop, answer(503)]) {
    const { url, requests } = await serveInTurn([fault]);
    const quick = quickClient(url);
    await rejects(quick.put(5n, { name: 'x' }), { code: 'unavailable' });
    await rejects(quick.patch(5n, { name: 'x' }), { code: 'unavailable' });
    await rejects(quick.delete(5n), { code: 'unavailable' });
    assert.deepEqual(
      requests.map(({ method }) => method),
      ['PUT', 'PATCH', 'DELETE'],
    );
  }
});

test('What makes or changes a token or a webhook is sent once only, but again after it was over the rate', async () => {
  const calls: ((quick: PlantStoreClient) => Promise<unknown>)[] = [
    ({ tokens }) => tokens.create({ name: 'x' }),
    ({ tokens }) => tokens.rotate('tok_1', { grace: '0' }),
    ({ tokens }) => tokens.revoke('tok_1'),
    ({ webhooks }) => webhooks.create({ url: 'https://example.com' }),
    ({ webhooks }) => webhooks.delete('whk_1'),
    ({ webhooks }) => webhooks.rotate('whk_1'),
    ({ webhooks }) => webhooks.enable('whk_1'),
    ({ webhooks }) => webhooks.test('whk_1'),
    ({ webhooks }) => webhooks.retry('whk_1', 5),
    ({ webhooks }) => webhooks.replay('whk_1', { from: 5 }),
  ];
  for (const fault of [drop, answer(503)]) {
    const { url, requests } = await serveInTurn([fault]);
    for (const call of calls) await rejects(call(quickClient(url)), { code: 'unavailable' });
    assert.equal(requests.length, calls.length);
  }
  const over = answer(429, '{"error":42900,"message":"Later"}');
  const { url, requests } = await serveInTurn(calls.flatMap(() => [over, answer(200, '{"plant":1}')]));
  for (const call of calls) await call(quickClient(url));
  assert.equal(requests.length, 2 * calls.length);
});

test('An answer that does not come, or does not end, is given up after the time-out of each try', async () => {
  const { url, requests } = await serveInTurn([hang, begin(RECORD.slice(0, 20))]);
  const timeoutMs = 1000; // a try that ends before its request has reached the server would not be counted
  const error = await rejects(quickClient(url, { timeoutMs, retries: 1 }).get(5n), { code: 'unavailable' });
  assert.equal((error.cause as Error).name, 'TimeoutError');
  assert.equal(requests.length, 2);
  // Not once(), which rejects where the system resets the connection instead of closing it.
  for (const { socket } of requests) socket.destroyed || (await new Promise((resolve) => socket.on('close', resolve)));
  await rejects(quickClient(url, { retries: 0 }).get(5n, { timeoutMs: 40 }), {
    code: 'unavailable',
    message: 'No answer from the plant store: nothing came within 40 ms',
  });
});

test('A signal ends a call at once with its reason: under way, between two tries, and before it', async () => {
  const { url, requests } = await serveInTurn([hang, answer(503, '', { 'retry-after': '60' })]);
  const patient = createClient({ url, token: 't' });
  for (const calls of [1, 2, 2]) {
    const abort = new AbortController();
    if (calls === requests.length) abort.abort('enough');
    const got = assert.rejects(patient.get(5n, { signal: abort.signal }), (reason) => reason === 'enough');
    while (requests.length < calls) await sleep(5);
    await sleep(100);
    abort.abort('enough');
    await got;
    assert.equal(requests.length, calls);
  }
});

test('A signal ends walk() and export() at once, whatever has been received', async () => {
  await client.import(somePlants(2, 'aborted'));
  const readings = [
    (signal: AbortSignal) => client.walk({ tag: 'aborted' }, { signal }),
    async (signal: AbortSignal) => (await client.export({ signal })).plants,
  ];
  for (const read of readings) {
    const abort = new AbortController();
    let seen = 0;
    const reading = async () => {
      for await (const _ of await read(abort.signal)) {
        seen++;
        abort.abort('enough');
      }
    };
    await assert.rejects(reading, (reason) => reason === 'enough');
    assert.equal(seen, 1);
  }
});

test("An answer that is not the service's is an error, and not asked for again", async () => {
  const verdicts: [fault: Handle, code: ErrorCode, detail?: ErrorDetail][] = [
    [answer(404, '<h1>Not Found</h1>'), 'no_such_path'],
    [answer(401, ''), 'no_credentials'],
    [answer(418, '{"error":"teapot"}'), 'malformed_request'],
    [answer(405, 'null', { allow: 'GET' }), 'no_such_method', { allow: 'GET' }],
    [
      answer(415, '', { accept: 'text/csv', 'accept-encoding': 'identity' }),
      'media_type',
      { accept: 'text/csv', acceptEncoding: 'identity' },
    ],
    [answer(400, '{"error":40077,"message":"of a newer version"}'), 'malformed_request'],
    [answer(500, '<h1>Oops</h1>'), 'unavailable'],
    [answer(500, '{"error":50000,"message":"Oops"}'), 'bug'],
    [answer(200, '<h1>Welcome</h1>'), 'unavailable'],
    [answer(200, 'null'), 'unavailable'],
    [answer(200, RECORD, { etag: '"of-another-kind"' }), 'unavailable'],
  ];
  for (const [fault, code, detail = {}] of verdicts) {
    const { url, requests } = await serveInTurn([fault]);
    await rejects(quickClient(url).get(5n), { code, detail });
    assert.equal(requests.length, 1);
  }
});

test('A redirect is not followed: the token stays where it belongs', async () => {
  const other = await serveInTurn([answer(200, RECORD)]);
  const { url } = await serveInTurn([answer(307, '', { location: other.url })]);
  await rejects(quickClient(url).get(5n), { code: 'unavailable' });
  assert.equal(other.requests.length, 0);
});

test('export() is asked for again before its first byte, and throws when it is cut off after it', async () => {
  const line = '{"id":9007199254740993,"name":"é"}\n';
  const { url, requests } = await serveInTurn([drop, begin('', drop), begin(`${line}${line}`, drop)]);
  const cut = await quickClient(url).export();
  assert.equal(requests.length, 3);
  const seen: NewPlant[] = [];
  await rejects(
    (async () => {
      for await (const plant of cut.plants) seen.push(plant);
    })(),
    { code: 'unavailable' },
  );
  assert.deepEqual(seen, Array(2).fill({ id: 9007199254740993n, name: 'é' }));

  const [start, end] = [Buffer.from(line).subarray(0, 32), Buffer.from(line).subarray(32)]; // in the middle of the é
  const inParts = await quickClient(await serve(begin(start, (_request, response) => response.end(end)))).export();
  assert.deepEqual(await collect(inParts.plants), seen.slice(1));
  const stuck = await quickClient((await serveInTurn([begin(line)])).url, { timeoutMs: 50 }).export();
  await rejects(collect(stuck.plants), { code: 'unavailable' });
  const short = await quickClient((await serveInTurn([answer(200, line.slice(0, 20))])).url).export();
  await rejects(collect(short.plants), { code: 'unavailable' });
});

test('export() lets go of the connection when nobody reads on', async () => {
  const lines = '{"id":1,"name":"x"}\n'.repeat(10);
  for (const end of ['break', 'close', 'close before', 'abort'] as const) {
    const closed = Promise.withResolvers<void>();
    const url = await serve((request, response) => {
      request.socket.once('close', () => closed.resolve());
      begin(lines)(request, response);
    });
    const abort = new AbortController();
    const { plants, close } = await quickClient(url).export({ signal: abort.signal });
    if (end === 'close before') close();
    else if (end !== 'break') setTimeout(() => (end === 'close' ? close() : abort.abort('enough')), 50);
    const reading = collect(plants, end === 'break' ? 1 : 1000);
    if (end === 'abort') await assert.rejects(reading, (reason) => reason === 'enough');
    else assert.equal((await reading).length, { break: 1, close: 10, 'close before': 0 }[end]);
    await closed.promise;
  }
});

test('follow() neither repeats nor skips a change, however its connections end', async () => {
  const { url, requests } = await serveInTurn([
    drop,
    stream(event(1), event(2), event(3).slice(0, -1)),
    stream(': nothing new\n\n', drop),
    answer(503),
    stream(event(2), event(3), 'id: 4\nevent: plant.cre', drop),
    hang,
    stream(event(4), hang),
    stream(hang),
    stream(': still here\r\n\r\n', event(5)),
  ]);
  const sleeps: number[] = [];
  const changes = await collect(quickClient(url, { silenceMs: 1000, timeoutMs: 1000 }, sleeps).follow(), 5);
  assert.deepEqual(
    changes.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  assert.equal(changes[0]?.plant.id, 9007199254740993n);
  assert.deepEqual(
    requests.map(({ headers }) => headers['last-event-id']),
    [undefined, undefined, '2', '2', '2', '3', '3', '4', '4'],
  );
  assert.deepEqual(sleeps, [100, 100, 200, 400, 100, 200, 100, 200]);
});

test('follow() throws what connecting again cannot mend', async () => {
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

test('follow() ends when its signal aborts, and lets go of the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const url = await serve((request, response) => {
    request.socket.once('close', () => closed.resolve());
    stream(event(1), event(2), hang)(request, response);
  });
  const whileItWaits = new AbortController();
  let heard = 0;
  for await (const _ of createClient({ url, token: 't' }).follow({ signal: whileItWaits.signal })) {
    if (++heard === 2) setTimeout(() => whileItWaits.abort(), 50);
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

test('follow() goes on after a restart of the server', async () => {
  const folder = makeFolder();
  const env = { PORT: String(await freePort()) };
  const first = await startServer({ folder, env });
  const follower = createClient({ url: first.url, token: first.secret });
  const seen: bigint[] = [];
  await follower.create({ id: 1n, name: 'before' });
  for await (const { plant } of follower.follow({ signal: AbortSignal.timeout(20_000) })) {
    seen.push(plant.id);
    if (plant.id === 3n) break;
    if (plant.id === 2n) {
      await first.kill();
      await startServer({ folder, env });
    }
    await follower.create({ id: plant.id + 1n, name: 'next' });
  }
  assert.deepEqual(seen, [1n, 2n, 3n]);
});

test('The url may have a base path, and a slash at its end', async () => {
  const { url, requests } = await serveInTurn([answer(200, RECORD)]);
  await createClient({ url: `${url}/store/`, token: 't' }).get(5n);
  await createClient({ url: new URL(url), token: 't' }).get(-5n);
  assert.deepEqual(
    requests.map((request) => request.url),
    ['/store/plants/5', '/plants/-5'],
  );
});

test('createClient() refuses what cannot work', (t) => {
  assert.throws(() => createClient({ url: 'nowhere', token: 't' }), TypeError);
  assert.throws(() => createClient({ url: 'http://x', token: 'secret\nX-Evil: 1' }), /^Error: "token" (?!.*secret)/);
  t.mock.property(JSON, 'rawJSON', undefined);
  assert.throws(() => createClient({ url: 'http://x', token: 't' }), /JSON\.rawJSON/);
});

test('The client needs neither Node nor a package', () => {
  const files = new Set([new URL('./client.ts', import.meta.url).href]);
  for (const file of files) {
    const text = readFileSync(new URL(file), 'utf8');
    assert.doesNotMatch(text, /\b(Buffer|process|require|setImmediate)\b/);
    for (const [, name = ''] of text.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '([^']+)'/gms)) {
      assert.match(name, /^\.{1,2}\/.*\.ts$/);
      files.add(new URL(name, file).href);
    }
  }
  const names = [...files].map((file) => file.replace(/.*\/src\//, '')).sort();
  const shared = ['client.ts', 'error.ts', 'json-key.ts', 'json.ts', 'record-end.ts'];
  assert.deepEqual(
    names.filter((name) => !name.startsWith('client/')),
    shared,
  );
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handle: Handle): Promise<string> {
  const faulty = createServer(handle).listen(0, '127.0.0.1');
  after(() => faulty.close().closeAllConnections());
  await once(faulty, 'listening');
  return `http://127.0.0.1:${(faulty.address() as AddressInfo).port}`;
}

/** The last one again and again. */
async function serveInTurn(handles: Handle[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const url = await serve((request, response) => {
    requests.push(request);
    request.resume().once('end', () => handles[Math.min(requests.length, handles.length) - 1]?.(request, response));
  });
  return { url, requests };
}

function answer(status: number, body = '', headers: Record<string, string> = {}): Handle {
  return (_request, response) => response.writeHead(status, { etag: '"1"', ...headers }).end(body);
}

function drop(request: IncomingMessage): void {
  request.socket.destroy();
}

function hang(): void {}

/** The answer does not end by itself. */
function begin(body: string | Uint8Array, then: Handle = hang): Handle {
  return (request, response) => {
    response.writeHead(200, { etag: '"1"' }).flushHeaders();
    if (body.length > 0) response.write(body);
    setTimeout(() => then(request, response), 20);
  };
}

/** Ends unless the last part is what happens instead. */
function stream(...parts: (string | Handle)[]): Handle {
  return (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' }).flushHeaders();
    for (const part of parts) {
      if (typeof part === 'string') response.write(part);
      else setTimeout(() => part(request, response), 20);
    }
    if (typeof parts.at(-1) === 'string') response.end();
  };
}

function event(seq: number): string {
  const plant = '{"id":9007199254740993,"name":"é"}';
  const data = `{"seq":${seq},"type":"plant.created","time":"2026-01-01T00:00:00.000Z","plant":${plant},"token":"t"}`;
  return `id: ${seq}\nevent: plant.created\ndata: ${data}\n\n`;
}

/** Waits no longer than a turn of the event loop, and writes down how long it should have been at most. */
function quickClient(url: string, options: Partial<ClientOptions> = {}, sleeps: number[] = []): PlantStoreClient {
  return createClient({
    url,
    token: 't',
    async sleep(timeMs) {
      sleeps.push(timeMs);
    },
    random: () => 1,
    ...options,
  });
}

function somePlants(count: number, tag?: string): NewPlant[] {
  return Array.from({ length: count }, () => ({ id: nextId++, name: 'Monstera', ...(tag !== undefined && { tag }) }));
}

async function collect<T>(items: AsyncIterable<T>, count = Number.POSITIVE_INFINITY): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) {
    if (collected.push(item) === count) break;
  }
  return collected;
}

async function idsOf(plants: AsyncIterable<{ id: bigint }>): Promise<bigint[]> {
  return (await collect(plants)).map(({ id }) => id);
}

async function rejects(
  promise: Promise<unknown>,
  expected: { code: ErrorCode; message?: string; detail?: ErrorDetail },
): Promise<PlantStoreError> {
  const error = await promise.then(
    () => assert.fail(`It did not throw ${expected.code}`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof PlantStoreError, String(error));
  const { code, message, detail } = error;
  assert.deepEqual({ code, message, detail }, { message, detail, ...expected });
  return error;
}
