// Tests of the MCP tools with the client of the SDK.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { call, connect, ERAS, refusal } from '../../testing/mcp.ts';
import { type Call, callerOf } from '../../testing/request.ts';
import { needsCurl } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';

/** Ids that a double cannot represent. */
const BIG = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];

let service: TestService;
let http: Call;
before(async () => {
  service = await startTestService();
  http = callerOf(service, service.secret);
});

for (const mode of ['legacy', 'auto'] as const) {
  suite(`a host of ${ERAS[mode]}`, () => {
    let client: Client;
    before(async () => {
      client = await connect(service, service.secret, mode);
    });

    test('receives the server name and the instructions', () => {
      assert.equal(client.getNegotiatedProtocolVersion(), ERAS[mode]);
      assert.deepEqual(client.getServerVersion()?.name, 'plant-store');
      assert.match(client.getInstructions() ?? '', /strings of digits/);
    });

    test('uses every tool on a plant, with versions', async () => {
      const id = mode === 'legacy' ? 100 : 200;
      const created = await call(client, 'create_plant', { id, name: 'Monstera deliciosa', tag: mode });
      assert.equal(created.texts[0], `{"id":${id},"name":"Monstera deliciosa","tag":"${mode}"}`);
      const { version } = created.structured as { version: number };
      assert.deepEqual(created.structured, {
        ...{ id: String(id), name: 'Monstera deliciosa', tag: mode },
        ...{ version, replayed: false },
      });
      const again = await call(client, 'create_plant', { id: String(id), name: 'Monstera deliciosa', tag: mode });
      assert.deepEqual(again.structured, { ...created.structured, replayed: true });

      const get = await http('GET', `/plants/${id}`);
      const read = await call(client, 'get_plant', { id });
      assert.deepEqual(read.texts, [get.body, `{"version":${version}}`]);
      assert.deepEqual(read.structured, { ...JSON.parse(get.body), id: String(id), version });
      assert.equal(get.headers.etag, `"${version}"`);
      const found = await call(client, 'search_plants', { q: 'del mon', tag: mode });
      assert.deepEqual(found.texts, [`[${get.body}]`]);
      assert.deepEqual(found.structured, { plants: [{ ...JSON.parse(get.body), id: String(id) }] });

      const changed = await call(client, 'update_plant', { id, tag: null, version });
      const { version: next } = changed.structured as { version: number };
      assert.ok(next > version);
      assert.deepEqual(changed.texts, [(await http('GET', `/plants/${id}`)).body, `{"version":${next}}`]);
      assert.equal(JSON.parse(changed.texts[0] ?? '').tag, undefined);
      assert.deepEqual(await refusal(client, 'update_plant', { id, name: 'x', version }), [
        41200,
        `Plant ${id} is at version ${next}. Read it again, or omit the condition.`,
      ]);
      assert.equal((await refusal(client, 'delete_plant', { id, version }))[0], 41200);

      const deleted = await call(client, 'delete_plant', { id, version: next });
      assert.deepEqual(deleted.texts, [`{"id":${id},"deleted":true}`]);
      assert.deepEqual(deleted.structured, { id: String(id), deleted: true });
      for (const name of ['get_plant', 'update_plant', 'delete_plant']) {
        assert.deepEqual(await refusal(client, name, { id }), [40401, `No plant has id ${id}`]);
      }
    });

    test('gets exact ids beyond 2^53', async () => {
      for (const id of BIG) {
        const name = `Big ${mode}`;
        await http('DELETE', `/plants/${id}`);
        const created = await call(client, 'create_plant', { id, name });
        assert.deepEqual([created.texts[0], created.structured.id], [`{"id":${id},"name":"${name}"}`, id]);
        const changed = await call(client, 'update_plant', { id, tag: 'large' });
        assert.equal(changed.structured.id, id);
        const { body } = await http('GET', `/plants/${id}`);
        assert.ok(body.startsWith(`{"id":${id},`));
        const read = await call(client, 'get_plant', { id });
        assert.deepEqual([read.texts[0], read.structured.id], [body, id]);
        const listed = await call(client, 'list_plants', { tag: 'large', limit: 1000 });
        assert.ok(listed.texts[0]?.includes(body));
        assert.ok((listed.structured.plants as { id: string }[]).some((plant) => plant.id === id));
        assert.equal((await call(client, 'delete_plant', { id })).texts[0], `{"id":${id},"deleted":true}`);
      }
    });
  });
}

test('a number that a host may have rounded is rejected', async () => {
  const client = await connect(service, service.secret);
  await http('PUT', '/plants/9007199254740992', { name: 'the neighbour' });
  for (const id of [9007199254740992, 2 ** 63, 1e300, ...BIG.map((digits) => JSON.rawJSON(digits))]) {
    const [error, says] = await refusal(client, 'delete_plant', { id });
    assert.deepEqual([error, says], [40002, '"id" may have been rounded, so pass it as a string of digits']);
  }
  assert.equal((await http('GET', '/plants/9007199254740992')).status, 200);
  const largest = await call(client, 'create_plant', { id: 9007199254740991, name: 'the largest that is safe' });
  assert.equal(largest.structured.id, '9007199254740991');
});

test('a call that does not match its schema gets the same reason as over HTTP', async () => {
  const client = await connect(service, service.secret);
  const id = 300;
  await call(client, 'create_plant', { id, name: 'Acer' });
  const int64 = 'must be an integer between -9223372036854775808 and 9223372036854775807';
  for (const [name, given, error, says] of [
    ['create_plant', { id, name: 'Rosa' }, 40009, 'Id 300 belongs to another plant'],
    ['create_plant', {}, 40002, '"id" is missing; "name" is missing'],
    ['create_plant', { id: '9223372036854775808', name: 'x' }, 40002, int64],
    ['create_plant', { id: 301, name: 'a\u0000b' }, 40002, '"name" must not contain U+0000'],
    ['create_plant', { id: 301, name: '\ud800' }, 40002, '"name" must not contain a lone surrogate'],
    ['create_plant', { id: 301, name: 'x', tag: null }, 40002, '"tag" must be a string'],
    ['get_plant', { id: 1.5 }, 40002, int64],
    ['get_plant', { id: '007' }, 40002, int64],
    ['get_plant', { id: null }, 40002, int64],
    ['get_plant', { id: true }, 40002, int64],
    ['update_plant', { id, versoin: 1 }, 40002, 'The call has unknown fields: versoin'],
    ['update_plant', { id, version: '1' }, 40002, '"version" must be an integer of at least 1'],
    ['update_plant', { id, name: null }, 40002, '"name" must be a string'],
    ['search_plants', {}, 40002, '"q" is missing'],
    ['search_plants', { q: '\udc00' }, 40002, '"q" must not contain a lone surrogate'],
    ['list_plants', { tag: [] }, 40002, '"tag" must be a string or a list of 1 to 100 strings'],
    ['list_plants', { tag: ['a', 5] }, 40002, '"tag" must be a string or a list of 1 to 100 strings'],
    ['list_plants', { tag: '\udc00' }, 40002, '"tag" must be a string or a list of 1 to 100 strings, without lone'],
    ['list_plants', { sort: 'size' }, 40002, '"sort" must be one of id, -id, name, -name, updated, -updated'],
    ['list_plants', { count: 'yes' }, 40002, '"count" must be true or false'],
    ['get_plant_history', { id: 301 }, 40401, 'No plant has id 301'],
    ['get_plant_history', { id, cursor: 'x' }, 40003, '"cursor" is malformed'],
    ['list_tags', { limit: 5 }, 40002, 'The call has unknown fields: limit'],
    ['list_plants', { limit: 0 }, 40002, '"limit" must be an integer of at least 1'],
    ['list_plants', { cursor: 'x' }, 40003, '"cursor" is malformed'],
  ] as const) {
    const refused = await refusal(client, name, given);
    assert.ok(refused[0] === error && refused[1].includes(says), `${name} ${JSON.stringify(given)}: ${refused}`);
  }
  assert.equal((await http('GET', '/plants/301')).status, 404);
  await assert.rejects(client.callTool({ name: 'drop_plants' }), { code: -32602, message: /No such tool/ });
});

test('following "next" returns every plant once, like following the Link headers', async () => {
  const client = await connect(service, service.secret);
  for (let id = 400; id < 407; id++) await http('PUT', `/plants/${id}`, { name: `Walk ${id}`, tag: 'walk' });
  const seen: string[] = [];
  let path = '/plants?limit=3&tag=walk&q=wal';
  let cursor: string | undefined;
  do {
    const over = await http('GET', path);
    const { texts, structured } = await call(client, 'search_plants', { limit: 3, tag: 'walk', q: 'wal', cursor });
    const { plants, next } = structured as { plants: { id: string }[]; next?: string };
    assert.deepEqual(texts, next === undefined ? [over.body] : [over.body, JSON.stringify({ next })]);
    seen.push(...plants.map(({ id }) => id));
    path = /<([^>]+)>/.exec(String(over.headers.link))?.[1] ?? '';
    assert.equal(path.includes(`cursor=${next}`), next !== undefined);
    cursor = next;
  } while (cursor !== undefined);
  assert.deepEqual(seen, ['400', '401', '402', '403', '404', '405', '406']);
  const other = await call(client, 'search_plants', { limit: 3, q: 'wal' });
  assert.match((await refusal(client, 'list_plants', { cursor: other.structured.next }))[1], /belongs to another/);
});

test('lists can be sorted, counted and filtered by several tags, like over HTTP', async () => {
  const client = await connect(service, service.secret, 'auto');
  for (const [id, name, tag] of [
    [500, 'sorted b', 's1'],
    [501, 'Sorted Ä', 's2'],
    [502, 'sorted c', undefined],
  ] as const) {
    await http('PUT', `/plants/${id}`, { name, tag });
  }
  for (const [name, given, path, total] of [
    ['list_plants', { tag: ['s1', 's2'], sort: '-name', count: true }, 'tag=s1&tag=s2&sort=-name', '2'],
    ['list_plants', { tag: 's1', untagged: true, count: false }, 'tag=s1&untagged=true', undefined],
    ['search_plants', { q: 'sorted', sort: 'name', count: true, limit: 3 }, 'q=sorted&sort=name', '3'],
    ['search_plants', { q: 'sorted', untagged: true, sort: 'updated' }, 'q=sorted&untagged=true', undefined],
  ] as const) {
    const { texts, structured } = await call(client, name, given);
    const over = await http('GET', `/plants?${path}`);
    assert.equal(texts[0], over.body);
    assert.deepEqual(texts.slice(1), total === undefined ? [] : [JSON.stringify({ total })]);
    assert.equal(structured.total, total);
  }
  const page = await call(client, 'search_plants', { q: 'sorted', sort: 'name', count: true, limit: 2 });
  const { plants, next, total } = page.structured as { plants: { name: string }[]; next: string; total: string };
  assert.deepEqual([plants.map(({ name }) => name), total], [['Sorted Ä', 'sorted b'], '3']);
  assert.equal(page.texts[1], JSON.stringify({ next, total }));
  const rest = await call(client, 'search_plants', { q: 'sorted', sort: 'name', cursor: next });
  assert.deepEqual(
    (rest.structured.plants as { name: string }[]).map(({ name }) => name),
    ['sorted c'],
  );
});

test('get_plant_history returns the changes of a plant in pages, like over HTTP', async () => {
  const id = '9007199254740997';
  const client = await connect(service, service.secret);
  await call(client, 'create_plant', { id, name: 'a' });
  for (const name of ['b', 'c']) await call(client, 'update_plant', { id, name });
  const first = await call(client, 'get_plant_history', { id, limit: 2 });
  const over = await http('GET', `/plants/${id}/changes?limit=2`);
  const { next } = first.structured as { next: string };
  assert.deepEqual(first.texts, [over.body, JSON.stringify({ next })]);
  assert.ok(String(over.headers.link).includes(`cursor=${next}`));
  const changes = JSON.parse(over.body) as { plant: object }[];
  assert.deepEqual(
    first.structured.changes,
    changes.map((change) => ({ ...change, plant: { ...change.plant, id } })),
  );
  const last = await call(client, 'get_plant_history', { id, cursor: next });
  const [{ type, plant, tokenName }, ...others] = last.structured.changes as [Record<string, unknown>];
  assert.deepEqual([type, plant, tokenName, others], ['plant.created', { id, name: 'a' }, 'test', []]);
  assert.equal(last.structured.next, undefined);
  await call(client, 'delete_plant', { id });
});

test('list_tags returns the tags of the summary, from the same cache', async () => {
  const own = await startTestService();
  const write = callerOf(own, own.secret);
  for (const id of [1, 2, 3]) await write('PUT', `/plants/${id}`, { name: 'x', ...(id < 3 && { tag: 't' }) });
  const expected = { plants: 3, untagged: 1, tags: [{ tag: 't', plants: 2 }] };
  const { plants, untagged, tags } = JSON.parse((await write('GET', '/plants/summary')).body);
  assert.deepEqual({ plants, untagged, tags }, expected);
  await write('PUT', '/plants/4', { name: 'after the summary' });
  const { texts, structured } = await call(await connect(own, own.secret), 'list_tags');
  assert.deepEqual([texts, structured], [[JSON.stringify(expected)], expected]);
  await own.stop();
});

test('get_status returns the status to an admin', async () => {
  const { secret } = await service.addToken({ scopes: ['admin'] });
  const { texts, structured } = await call(await connect(service, secret), 'get_status');
  const expected = JSON.parse((await callerOf(service, secret)('GET', '/status')).body);
  const fixed = ({ version, started, database, limits }: Record<string, unknown>) => ({
    version,
    started,
    database,
    limits,
  });
  assert.deepEqual(fixed(structured), fixed(expected));
  assert.deepEqual(JSON.parse(texts[0] as string), structured);
});

test('the tools return the same bytes as GET for any plant', async () => {
  const client = await connect(service, service.secret, 'auto');
  const text = fc.string({ unit: codePoints, maxLength: 20 }).filter((value) => !value.includes('\0'));
  const plants = fc.record(
    { id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), name: text, tag: text },
    { requiredKeys: ['id', 'name'] },
  );
  await fc.assert(
    fc.asyncProperty(plants, async ({ id, ...plant }) => {
      const given = { id: String(id), ...plant };
      await http('DELETE', `/plants/${id}`); // another test may have stored it
      const { structured } = await call(client, 'create_plant', given);
      assert.deepEqual(structured, { ...given, version: structured.version, replayed: false });
      const { body, headers } = await http('GET', `/plants/${id}`);
      const read = await call(client, 'get_plant', { id: given.id });
      assert.deepEqual(read.texts, [body, `{"version":${headers.etag?.replaceAll('"', '')}}`]);
      const { created, updated } = JSON.parse(body);
      assert.deepEqual(read.structured, { ...given, created, updated, version: structured.version });
      await call(client, 'delete_plant', { id: given.id });
    }),
    { numRuns: 15 },
  );
});

test('the change log records every change with the id of its token', async () => {
  const { secret, id: tokenId } = await service.addToken();
  const client = await connect(service, secret);
  const { structured } = await call(client, 'create_plant', { id: '9007199254740995', name: 'Logged' });
  await call(client, 'update_plant', { id: '9007199254740995', tag: 'x' });
  await call(client, 'delete_plant', { id: '9007199254740995' });
  const { body } = await http('GET', `/events?after=${Number(structured.version) - 1}`);
  assert.deepEqual(
    JSON.parse(body).map((change: { type: string; token: string }) => [change.type, change.token]),
    ['plant.created', 'plant.updated', 'plant.deleted'].map((type) => [type, tokenId]),
  );
  assert.equal(body.split('"id":9007199254740995,').length, 4);
});

test('docs/guides/assistants.md lists every tool, and its curl command works', needsCurl, async () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/guides/assistants.md'), 'utf8');
  const client = await connect(service, service.secret);
  const told = [...docs.matchAll(/^\| `(\w+)` \| `plants:\w+` \| (.*?) \|/gm)];
  assert.deepEqual(
    told.map(([, name, takes = '']) => [name, [...takes.matchAll(/`(\w+)`/g)].map(([, argument]) => argument).sort()]),
    (await client.listTools()).tools.map(({ name, inputSchema }) => [
      name,
      Object.keys(inputSchema.properties ?? {}).sort(),
    ]),
  );
  const { type, url, headers } = JSON.parse(/^```json\n(.*?)^```/ms.exec(docs)?.[1] ?? '').mcpServers.plants;
  assert.deepEqual([type, url], ['http', 'http://127.0.0.1:3000/mcp']);
  assert.match(headers.Authorization, /^Bearer pst_\w{36}$/);
  await http('PUT', '/plants/700', { name: 'Monstera deliciosa' });
  const command = /^```sh\n(curl .*?)^```/ms.exec(docs)?.[1]?.replace(':3000', `:${service.port}`) ?? '';
  const env = { ...process.env, TOKEN: service.secret };
  const { stdout: printed } = await promisify(execFile)('sh', ['-ec', command], { env });
  assert.ok(
    JSON.parse(printed).result.structuredContent.plants.some(({ id }: { id: string }) => id === '700'),
    printed,
  );
});
