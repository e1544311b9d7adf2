// Tests the client against the server. The tests of the stores check that the client behaves like any other store.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request as sendOn } from 'node:http';
import { before, test } from 'node:test';
import { answer, collect, quickClient, RECORD, rejects, serve, serveInTurn } from '../../testing/scripted-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import type { ChangeLog } from '../domain/change.ts';
import type { NewPlant, PlantStore } from '../domain/plant.ts';
import { createClient, type PlantStoreClient, PlantStoreError } from './client.ts';

const LIMITS = [-9223372036854775808n, -9007199254740993n, 0n, 9007199254740993n, 9223372036854775807n];

let server: TestService;
let client: PlantStoreClient;
before(async () => {
  server = await startTestService();
  client = createClient({ url: server.url, token: server.secret });
});
let nextId = 1_000_000n;

test('The client implements PlantStore and ChangeLog, with exact ids everywhere', async () => {
  const { url, secret } = await startTestService();
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
  const followed = changes.map(({ tokenName, ...change }) => change); // a stream has no names of tokens
  assert.deepEqual(await collect(createClient({ url, token: secret }).follow(), 5), followed);
});

test('walk() yields the records of all pages, starting at the cursor if one is given', async () => {
  const plants = somePlants(7, 'walked');
  await client.import(plants);
  const ids = plants.map(({ id }) => id);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked', limit: 2 })), ids);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked' })), ids);
  const { next, records } = await client.list({ tag: 'walked', limit: 3 });
  assert.equal(records.length, 3);
  assert.deepEqual(await idsOf(client.walk({ tag: 'walked', cursor: next, limit: 2 })), ids.slice(3));
  assert.deepEqual(await client.list({ tag: 'unused' }), { records: [] });
});

test('import() lists every line that fails, even more than 1,000', async () => {
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

test('import() sends about 1 MiB per request', async () => {
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

test('put(), patch() and delete() send their preconditions', async () => {
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

test('The client throws every error of the server with its code', async () => {
  const [plant] = somePlants(1) as [NewPlant];
  await client.create(plant);
  const { secret } = await server.addToken({ scopes: ['plants:read'] });
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

test('The client retries a create after a lost response, and the server stores the plant once', async () => {
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

test('The URL can have a base path and a trailing slash', async () => {
  const { url, requests } = await serveInTurn([answer(200, RECORD)]);
  await createClient({ url: `${url}/store/`, token: 't' }).get(5n);
  await createClient({ url: new URL(url), token: 't' }).get(-5n);
  assert.deepEqual(
    requests.map((request) => request.url),
    ['/store/plants/5', '/plants/-5'],
  );
});

test('createClient() rejects a bad URL, a bad token and a runtime without JSON.rawJSON', (t) => {
  assert.throws(() => createClient({ url: 'nowhere', token: 't' }), TypeError);
  assert.throws(() => createClient({ url: 'http://x', token: 'secret\nX-Evil: 1' }), /^Error: "token" (?!.*secret)/);
  t.mock.property(JSON, 'rawJSON', undefined);
  assert.throws(() => createClient({ url: 'http://x', token: 't' }), /JSON\.rawJSON/);
});

test('The client imports neither Node modules nor packages', () => {
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
  const shared = [
    'domain/errors.ts',
    'files/bytes.ts',
    'files/csv-record-end.ts',
    'lib/exact-json.ts',
    'lib/json-keys.ts',
    'lib/query.ts',
  ];
  assert.deepEqual(
    names.filter((name) => !name.startsWith('client/')),
    shared,
  );
});

function somePlants(count: number, tag?: string): NewPlant[] {
  return Array.from({ length: count }, () => ({ id: nextId++, name: 'Monstera', ...(tag !== undefined && { tag }) }));
}

async function idsOf(plants: AsyncIterable<{ id: bigint }>): Promise<bigint[]> {
  return (await collect(plants)).map(({ id }) => id);
}
