// MCP as an assistant's host speaks it: the SDK's own client against the real process, and what no client should send.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { type Answer, type Call, callerOf, send } from '../../testing/request.ts';
import { addToken, needsCurl, startServer, type TestServer, tellLoaded } from '../../testing/server.ts';
import { mintSecret } from '../domain/token-secret.ts';

const ERAS = { legacy: '2025-11-25', auto: '2026-07-28' } as const;
const READ = ['list_plants', 'search_plants', 'get_plant'];
const WRITE = ['create_plant', 'update_plant', 'delete_plant'];
/** Beyond what a double holds. */
const BIG = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];

let server: TestServer;
let http: Call;
const clients: Client[] = [];

before(async () => {
  server = await startServer({ env: tellLoaded('@modelcontextprotocol') });
  http = callerOf(server, server.secret);
});
after(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await server.stop();
});

async function connect(secret: string, mode: keyof typeof ERAS = 'legacy', url = server.url): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${secret}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  clients.push(client);
  return client;
}

interface Outcome {
  texts: string[];
  structured: Record<string, unknown>;
  isError: boolean;
}

async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Outcome> {
  const { content, structuredContent, isError } = (await client.callTool({ name, arguments: given })) as CallToolResult;
  const texts = content.map((block) => (block.type === 'text' ? block.text : assert.fail(block.type)));
  return { texts, structured: structuredContent as Record<string, unknown>, isError: isError === true };
}

/** What the tool says is wrong: the number and the message of our Error. */
async function refusal(client: Client, name: string, given: Record<string, unknown>): Promise<[number, string]> {
  const { texts, structured, isError } = await call(client, name, given);
  assert.deepEqual([isError, structured, texts.length], [true, undefined, 1], `${texts}`);
  const { error, message } = JSON.parse(texts[0] ?? '');
  return [error, message];
}

function post(
  body: string,
  headers: Record<string, string | string[]> = {},
  { port, secret } = server,
): Promise<Answer> {
  const own = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return send(port, { method: 'POST', path: '/mcp', headers: { ...own, ...headers }, body });
}

function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

test('whoever does not speak MCP does not pay for it: the SDK is loaded when somebody does', async () => {
  assert.equal((await http('POST', '/plants', { id: 1, name: 'x' })).status, 200);
  assert.doesNotMatch(server.output(), /LOADED/);
  assert.deepEqual(JSON.parse((await post(message('ping'))).body), { jsonrpc: '2.0', id: 1, result: {} });
  while (!server.output().includes('LOADED')) await sleep(10);
});

for (const mode of ['legacy', 'auto'] as const) {
  suite(`a host of ${ERAS[mode]}`, () => {
    let client: Client;
    before(async () => {
      client = await connect(server.secret, mode);
    });

    test('is told what this is', () => {
      assert.equal(client.getNegotiatedProtocolVersion(), ERAS[mode]);
      assert.deepEqual(client.getServerVersion()?.name, 'plant-store');
      assert.match(client.getInstructions() ?? '', /strings of digits/);
    });

    test('walks a plant through every tool, with its versions', async () => {
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
        `Plant ${id} is at version ${next}: read it again, or leave the condition out`,
      ]);
      assert.equal((await refusal(client, 'delete_plant', { id, version }))[0], 41200);

      const deleted = await call(client, 'delete_plant', { id, version: next });
      assert.deepEqual(deleted.texts, [`{"id":${id},"deleted":true}`]);
      assert.deepEqual(deleted.structured, { id: String(id), deleted: true });
      for (const name of ['get_plant', 'update_plant', 'delete_plant']) {
        assert.deepEqual(await refusal(client, name, { id }), [40401, `No plant has the id ${id}`]);
      }
    });

    test('gets ids beyond 2^53 to the last digit', async () => {
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

test('a number that a host may have rounded is refused, whatever became of it', async () => {
  const client = await connect(server.secret);
  await http('PUT', '/plants/9007199254740992', { name: 'the neighbour' });
  for (const id of [9007199254740992, 2 ** 63, 1e300, ...BIG.map((digits) => JSON.rawJSON(digits))]) {
    const [error, says] = await refusal(client, 'delete_plant', { id });
    assert.deepEqual([error, says], [40002, '"id" may have been rounded on its way: give it as a string of digits']);
  }
  assert.equal((await http('GET', '/plants/9007199254740992')).status, 200);
  const largest = await call(client, 'create_plant', { id: 9007199254740991, name: 'the largest that is safe' });
  assert.equal(largest.structured.id, '9007199254740991');
});

test('a call that does not fit its schema is told why, as over HTTP', async () => {
  const client = await connect(server.secret);
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
    ['update_plant', { id, versoin: 1 }, 40002, 'The call has members that nobody knows: versoin'],
    ['update_plant', { id, version: '1' }, 40002, '"version" must be a whole number of at least 1'],
    ['update_plant', { id, name: null }, 40002, '"name" must be a string'],
    ['search_plants', {}, 40002, '"q" is missing'],
    ['search_plants', { q: '\udc00' }, 40002, '"q" must not contain a lone surrogate'],
    ['list_plants', { limit: 0 }, 40002, '"limit" must be a whole number of at least 1'],
    ['list_plants', { cursor: 'x' }, 40003, '"cursor" is not one'],
  ] as const) {
    const refused = await refusal(client, name, given);
    assert.ok(refused[0] === error && refused[1].includes(says), `${name} ${JSON.stringify(given)}: ${refused}`);
  }
  assert.equal((await http('GET', '/plants/301')).status, 404);
  await assert.rejects(client.callTool({ name: 'drop_plants' }), { code: -32602, message: /No such tool/ });
});

test('a walk along "next" shows every plant once, the same as along the Link headers', async () => {
  const client = await connect(server.secret);
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

test('whatever is stored, the tools give the bytes that GET gives', async () => {
  const client = await connect(server.secret, 'auto');
  const text = fc.string({ unit: 'binary', maxLength: 20 }).filter((value) => !value.includes('\0'));
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

test('the tools that are shown are those that the token may call, with what a host goes by', async () => {
  for (const [scopes, names] of [
    [
      ['plants:read', 'plants:write'],
      [...READ, ...WRITE],
    ],
    [['plants:read'], READ],
    [['plants:write'], WRITE],
    [['admin'], []],
  ] as const) {
    const { secret } = await addToken(server.databaseUrl, { scopes: [...scopes] });
    const { tools } = await (await connect(secret)).listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      names,
    );
    for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
      assert.ok(title && description && inputSchema.additionalProperties === false && outputSchema, name);
      assert.deepEqual(
        [annotations?.readOnlyHint, annotations?.destructiveHint, annotations?.idempotentHint],
        [READ.includes(name), ['update_plant', 'delete_plant'].includes(name), true],
        name,
      );
    }
  }
});

test('a tool beyond the scope of its token is refused by name, is counted, and changes nothing', async () => {
  const { secret } = await addToken(server.databaseUrl, { scopes: ['plants:read'] });
  const admin = callerOf(server, (await addToken(server.databaseUrl, { scopes: ['admin'] })).secret);
  const countOf = async () => Number(/reason="scope"\} (\d+)/.exec((await admin('GET', '/metrics')).body)?.[1] ?? 0);
  const before = await countOf();
  await http('PUT', '/plants/500', { name: 'kept' });
  const state = (await http('GET', '/plants/500')).body;
  const client = await connect(secret);
  for (const [name, given] of [
    ['create_plant', { id: 501, name: 'x' }],
    ['update_plant', { id: 500, name: 'x' }],
    ['delete_plant', { id: 500 }],
  ] as const) {
    assert.deepEqual(await refusal(client, name, given), [40301, 'The token lacks the scope "plants:write"']);
  }
  assert.equal(await countOf(), before + 3);
  assert.equal((await http('GET', '/plants/500')).body, state);
  assert.equal((await http('GET', '/plants/501')).status, 404);
  assert.equal((await call(client, 'get_plant', { id: 500 })).texts[0], state);
});

test('every change is in the log under the id of its token', async () => {
  const { secret, token } = await addToken(server.databaseUrl, {});
  const client = await connect(secret);
  const { structured } = await call(client, 'create_plant', { id: '9007199254740995', name: 'Logged' });
  await call(client, 'update_plant', { id: '9007199254740995', tag: 'x' });
  await call(client, 'delete_plant', { id: '9007199254740995' });
  const { body } = await http('GET', `/events?after=${Number(structured.version) - 1}`);
  assert.deepEqual(
    JSON.parse(body).map((change: { type: string; token: string }) => [change.type, change.token]),
    ['plant.created', 'plant.updated', 'plant.deleted'].map((type) => [type, token.id]),
  );
  assert.equal(body.split('"id":9007199254740995,').length, 4);
});

test('the door is that of every route: credentials before anything of the body, then the rate', async () => {
  for (const [headers, status, error] of [
    [{ authorization: '' }, 401, 40101],
    [{ authorization: `Bearer ${mintSecret()}` }, 401, 40102],
    [{ authorization: [`Bearer ${server.secret}`, `Bearer ${server.secret}`] }, 400, 40000],
  ] as const) {
    for (const body of ['{', message('tools/list'), '[]']) {
      const answer = await post(body, { ...headers, authorization: headers.authorization as string });
      assert.deepEqual([answer.status, JSON.parse(answer.body).error], [status, error]);
    }
  }
  await assert.rejects(connect(mintSecret()), /40102|nauthorized/);

  const { secret } = await addToken(server.databaseUrl, { rate: { count: 3, periodMs: 3_600_000 } });
  const limited = { ...server, secret };
  const statuses = [];
  for (const body of [message('ping'), '{', '[]', message('ping')]) {
    statuses.push((await post(body, {}, limited)).status);
  }
  assert.deepEqual(statuses, [200, 400, 400, 429]);
  const { status, headers, body } = await post('{', {}, limited);
  assert.deepEqual([status, JSON.parse(body).error], [429, 42900]);
  assert.ok(headers['retry-after'] && headers['ratelimit-policy'] === '"token";q=3;w=3600');
  await assert.rejects(connect(secret), /42900/);
});

test('a batch is refused, so that it is no way around the rate', async () => {
  const one = JSON.parse(message('tools/call', { name: 'create_plant', arguments: { id: 600, name: 'x' } }));
  for (const body of [JSON.stringify([one]), JSON.stringify([one, { ...one, id: 2 }]), '[]']) {
    const answer = await post(body);
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [400, { error: 40002, message: 'The body must be one JSON-RPC message: an object, not a batch' }],
    );
  }
  assert.equal((await http('GET', '/plants/600')).status, 404);
});

test('what HTTP refuses is an Error, as everywhere', async () => {
  const long = message('tools/call', { name: 'create_plant', arguments: { id: 601, name: 'x'.repeat(65_536) } });
  for (const [answer, status, error] of [
    [await post(long), 413, 41300],
    [await post(message('ping'), { 'content-type': 'text/plain' }), 415, 41500],
    [await post(message('ping'), { 'content-encoding': 'gzip' }), 415, 41500],
    [await post(`${'[{"a":'.repeat(20)}1${'}]'.repeat(20)}`), 400, 40001],
    [await http('GET', '/mcp'), 405, 40500],
    [await http('DELETE', '/mcp'), 405, 40500],
    [await http('GET', '/mcp/x'), 404, 40400],
  ] as const) {
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [status, error], answer.body);
    assert.equal(answer.headers['cache-control'], 'no-store');
    if (status === 405) assert.equal(answer.headers.allow, 'POST');
  }
  assert.equal((await send(server.port, { path: '/mcp' })).status, 401);
});

test('nothing is kept open: who wants to listen is refused', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': ERAS.auto,
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': ERAS.auto, 'mcp-method': 'subscriptions/listen' };
  const answer = await post(
    message('subscriptions/listen', { _meta, notifications: { toolsListChanged: true } }),
    headers,
  );
  assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [200, -32603], answer.body);
});

test('garbage gets an Error or an error of JSON-RPC, and is never taken for a fault of ours', async () => {
  const member = fc.constantFrom('null', 'true', '-1', '9007199254740993', '1e400', '""', '[]', '{}', '"get_plant"');
  const method = fc.constantFrom('initialize', 'tools/list', 'tools/call', 'server/discover', 'notifications/x', 'x');
  const params = fc.oneof(
    member,
    member.map((value) => `{"name":${value},"arguments":${value},"cursor":${value},"protocolVersion":${value}}`),
    member.map((value) => `{"name":"get_plant","arguments":{"id":${value}},"_meta":{"progressToken":${value}}}`),
    member.map((value) => `{"_meta":{"io.modelcontextprotocol/protocolVersion":${value}},"name":"list_plants"}`),
  );
  const bodies = fc.oneof(
    fc
      .tuple(member, method, params)
      .map(([id, name, rest]) => `{"jsonrpc":"2.0","id":${id},"method":"${name}","params":${rest}}`),
    fc.tuple(method, params).map(([name, rest]) => `{"jsonrpc":"2.0","method":"${name}","params":${rest}}`),
    fc.json({ maxDepth: 3 }),
    fc.string({ unit: 'binary' }),
  );
  const versions = fc.constantFrom({}, { 'mcp-protocol-version': ERAS.auto }, { 'mcp-protocol-version': 'x' });
  await fc.assert(
    fc.asyncProperty(bodies, versions, async (body, headers) => {
      const answer = await post(body, headers);
      assert.ok([200, 202, 400, 404].includes(answer.status), `${answer.status} ${answer.body}`);
      if (answer.status === 202) return assert.equal(answer.body, '');
      const { jsonrpc, error, message: says } = JSON.parse(answer.body);
      assert.ok(jsonrpc === '2.0' || (typeof error === 'number' && typeof says === 'string'), answer.body);
      assert.match(answer.headers['content-type'] ?? '', /^application\/json/);
    }),
    { numRuns: 100 },
  );
  assert.ok(!server.output().includes('"kind":"bug"'), server.output());
});

test('a page may speak MCP only from an origin that is named, or from an address of ours that no DNS can lend it', async () => {
  const shop = 'https://shop.example.com';
  const named = await startServer({ env: { CORS_ORIGINS: shop, BASE_PATH: '/store' } });
  const ask = ({ port, secret }: TestServer, path: string, headers: Record<string, string>) =>
    send(port, {
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      body: message('ping'),
    });
  for (const [origin, host, isNamed, isUnnamed] of [
    [shop, 'x', 200, 403],
    ['https://evil.example', 'x', 403, 403],
    ['null', 'x', 403, 403],
    ['http://evil.example:3000', 'evil.example:3000', 403, 403],
    ['http://localhost:3000', 'localhost:3000', 200, 200],
    ['http://127.0.0.1:3000', '127.0.0.1:3000', 200, 200],
    ['https://[::1]:3000', '[::1]:3000', 200, 200],
    ['http://127.0.0.1:3001', '127.0.0.1:3000', 403, 403],
  ] as const) {
    const answers = [await ask(named, '/store/mcp', { origin, host }), await ask(server, '/mcp', { origin, host })];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [isNamed, isUnnamed],
      origin,
    );
    for (const { status, body } of answers) if (status === 403) assert.equal(JSON.parse(body).error, 40302);
  }
  for (const host of ['[::1', '%', 'localhost:99999', '[::1]x']) {
    assert.equal((await ask(server, '/mcp', { origin: `http://${host}`, host })).status, 403, host);
  }
  const stranger = await ask({ ...named, secret: mintSecret() }, '/store/mcp', { origin: 'https://evil.example' });
  assert.equal(stranger.status, 401);
  const preflight = await send(named.port, {
    method: 'OPTIONS',
    path: '/store/mcp',
    headers: { origin: shop, 'access-control-request-method': 'POST' },
  });
  assert.match(preflight.headers['access-control-allow-headers'] ?? '', /MCP-Protocol-Version, Mcp-Method, Mcp-Name/);
  assert.equal((await (await connect(named.secret, 'auto', named.url)).listTools()).tools.length, 6);
  await named.stop();
});

test('docs/mcp.md names the tools there are, and what it says to paste works', needsCurl, async () => {
  const docs = readFileSync(join(import.meta.dirname, '../../docs/mcp.md'), 'utf8');
  const client = await connect(server.secret);
  const told = [...docs.matchAll(/^\| `(\w+)` \| `plants:\w+` \| (.*?) \|/gm)];
  assert.deepEqual(
    told.map(([, name, takes = '']) => [name, [...takes.matchAll(/`(\w+)`/g)].map(([, member]) => member).sort()]),
    (await client.listTools()).tools.map(({ name, inputSchema }) => [
      name,
      Object.keys(inputSchema.properties ?? {}).sort(),
    ]),
  );
  const { type, url, headers } = JSON.parse(/^```json\n(.*?)^```/ms.exec(docs)?.[1] ?? '').mcpServers.plants;
  assert.deepEqual([type, url], ['http', 'http://127.0.0.1:3000/mcp']);
  assert.match(headers.Authorization, /^Bearer pst_\w{36}$/);
  await http('PUT', '/plants/700', { name: 'Monstera deliciosa' });
  const command = /^```sh\n(curl .*?)^```/ms.exec(docs)?.[1]?.replace(':3000', `:${server.port}`) ?? '';
  const printed = execFileSync('sh', ['-ec', command], {
    env: { ...process.env, TOKEN: server.secret },
    encoding: 'utf8',
  });
  assert.ok(
    JSON.parse(printed).result.structuredContent.plants.some(({ id }: { id: string }) => id === '700'),
    printed,
  );
});
