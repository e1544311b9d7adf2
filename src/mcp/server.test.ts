// Tests of MCP over HTTP: authorization, and messages that no host should send.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';
import { call, connect, ERAS, message, post, refusal } from '../../testing/mcp.ts';
import { type Call, callerOf, send } from '../../testing/request.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { mintSecret } from '../domain/token-secret.ts';

const READ = ['list_plants', 'search_plants', 'get_plant', 'get_plant_history', 'list_tags'];
const ADMIN = ['get_status'];
const WRITE = ['create_plant', 'update_plant', 'delete_plant'];

let service: TestService;
let http: Call;
before(async () => {
  service = await startTestService();
  http = callerOf(service, service.secret);
});

test('tools/list returns the tools that the token may call, with schemas and hints', async () => {
  for (const [scopes, names] of [
    [
      ['plants:read', 'plants:write'],
      [...READ, ...WRITE],
    ],
    [['plants:read'], READ],
    [['plants:write'], WRITE],
    [['admin'], ADMIN],
  ] as const) {
    const { secret } = await service.addToken({ scopes: [...scopes] });
    const { tools } = await (await connect(service, secret)).listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      names,
    );
    for (const { name, title, description, annotations, inputSchema, outputSchema } of tools) {
      assert.ok(title && description && inputSchema.additionalProperties === false && outputSchema, name);
      assert.deepEqual(
        [annotations?.readOnlyHint, annotations?.destructiveHint, annotations?.idempotentHint],
        [[...READ, ...ADMIN].includes(name), ['update_plant', 'delete_plant'].includes(name), true],
        name,
      );
    }
  }
});

test('a call without the required scope names the scope, is counted, and changes nothing', async () => {
  const { secret } = await service.addToken({ scopes: ['plants:read'] });
  const admin = callerOf(service, (await service.addToken({ scopes: ['admin'] })).secret);
  const countOf = async () => Number(/reason="scope"\} (\d+)/.exec((await admin('GET', '/metrics')).body)?.[1] ?? 0);
  const earlier = await countOf();
  await http('PUT', '/plants/500', { name: 'kept' });
  const state = (await http('GET', '/plants/500')).body;
  const client = await connect(service, secret);
  for (const [name, given] of [
    ['create_plant', { id: 501, name: 'x' }],
    ['update_plant', { id: 500, name: 'x' }],
    ['delete_plant', { id: 500 }],
  ] as const) {
    assert.deepEqual(await refusal(client, name, given), [40301, 'The token lacks the scope "plants:write"']);
  }
  assert.equal(await countOf(), earlier + 3);
  assert.equal((await http('GET', '/plants/500')).body, state);
  assert.equal((await http('GET', '/plants/501')).status, 404);
  assert.equal((await call(client, 'get_plant', { id: 500 })).texts[0], state);
});

test('credentials are checked before the body, then the rate, as on every route', async () => {
  for (const [headers, status, error] of [
    [{ authorization: '' }, 401, 40101],
    [{ authorization: `Bearer ${mintSecret()}` }, 401, 40102],
    [{ authorization: [`Bearer ${service.secret}`, `Bearer ${service.secret}`] }, 400, 40000],
  ] as const) {
    for (const body of ['{', message('tools/list'), '[]']) {
      const answer = await post(service, body, { ...headers, authorization: headers.authorization as string });
      assert.deepEqual([answer.status, JSON.parse(answer.body).error], [status, error]);
    }
  }
  await assert.rejects(connect(service, mintSecret()), /40102|nauthorized/);

  const { secret } = await service.addToken({ rate: { count: 3, periodMs: 3_600_000 } });
  const limited = { ...service, secret };
  const statuses = [];
  for (const body of [message('ping'), '{', '[]', message('ping')]) {
    statuses.push((await post(limited, body)).status);
  }
  assert.deepEqual(statuses, [200, 400, 400, 429]);
  const { status, headers, body } = await post(limited, '{');
  assert.deepEqual([status, JSON.parse(body).error], [429, 42900]);
  assert.ok(headers['retry-after'] && headers['ratelimit-policy'] === '"token";q=3;w=3600');
  await assert.rejects(connect(service, secret), /42900/);
});

test('a batch is rejected, because it would bypass the rate limit', async () => {
  const one = JSON.parse(message('tools/call', { name: 'create_plant', arguments: { id: 600, name: 'x' } }));
  for (const body of [JSON.stringify([one]), JSON.stringify([one, { ...one, id: 2 }]), '[]']) {
    const answer = await post(service, body);
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [400, { error: 40002, message: 'The body must be one JSON-RPC message (an object, not a batch)' }],
    );
  }
  assert.equal((await http('GET', '/plants/600')).status, 404);
});

test('HTTP failures return an Error, as on every route', async () => {
  const long = message('tools/call', { name: 'create_plant', arguments: { id: 601, name: 'x'.repeat(65_536) } });
  for (const [answer, status, error] of [
    [await post(service, long), 413, 41300],
    [await post(service, message('ping'), { 'content-type': 'text/plain' }), 415, 41500],
    [await post(service, message('ping'), { 'content-encoding': 'gzip' }), 415, 41500],
    [await post(service, `${'[{"a":'.repeat(20)}1${'}]'.repeat(20)}`), 400, 40001],
    [await http('GET', '/mcp'), 405, 40500],
    [await http('DELETE', '/mcp'), 405, 40500],
    [await http('GET', '/mcp/x'), 404, 40400],
  ] as const) {
    assert.deepEqual([answer.status, JSON.parse(answer.body).error], [status, error], answer.body);
    assert.equal(answer.headers['cache-control'], 'no-store');
    if (status === 405) assert.equal(answer.headers.allow, 'POST');
  }
  assert.equal((await send(service.port, { path: '/mcp' })).status, 401);
});

test('a request to subscribe is rejected, because no connection stays open', async () => {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': ERAS.auto,
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const headers = { 'mcp-protocol-version': ERAS.auto, 'mcp-method': 'subscriptions/listen' };
  const answer = await post(
    service,
    message('subscriptions/listen', { _meta, notifications: { toolsListChanged: true } }),
    headers,
  );
  assert.deepEqual([answer.status, JSON.parse(answer.body).error.code], [200, -32603], answer.body);
});

test('malformed messages get an Error or a JSON-RPC error, and are never reported as bugs', async () => {
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
    fc.string({ unit: codePoints }),
  );
  const versions = fc.constantFrom({}, { 'mcp-protocol-version': ERAS.auto }, { 'mcp-protocol-version': 'x' });
  await fc.assert(
    fc.asyncProperty(bodies, versions, async (body, headers) => {
      const answer = await post(service, body, headers);
      assert.ok([200, 202, 400, 404].includes(answer.status), `${answer.status} ${answer.body}`);
      if (answer.status === 202) return assert.equal(answer.body, '');
      const { jsonrpc, error, message: says } = JSON.parse(answer.body);
      assert.ok(jsonrpc === '2.0' || (typeof error === 'number' && typeof says === 'string'), answer.body);
      assert.equal(answer.headers['content-type'], 'application/json');
    }),
    { numRuns: 100 },
  );
  assert.deepEqual(
    service.events.filter(({ kind }) => kind === 'bug'),
    [],
  );
});

test('a page may use MCP only from a configured origin, or from an own IP address or localhost', async () => {
  const shop = 'https://shop.example.com';
  const named = await startTestService({ env: { CORS_ORIGINS: shop, BASE_PATH: '/store' } });
  const ask = ({ port, secret }: { port: number; secret: string }, path: string, headers: Record<string, string>) =>
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
    const answers = [await ask(named, '/store/mcp', { origin, host }), await ask(service, '/mcp', { origin, host })];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [isNamed, isUnnamed],
      origin,
    );
    for (const { status, body } of answers) if (status === 403) assert.equal(JSON.parse(body).error, 40302);
  }
  for (const host of ['[::1', '%', 'localhost:99999', '[::1]x']) {
    assert.equal((await ask(service, '/mcp', { origin: `http://${host}`, host })).status, 403, host);
  }
  const stranger = await ask({ ...named, secret: mintSecret() }, '/store/mcp', { origin: 'https://evil.example' });
  assert.equal(stranger.status, 401);
  const preflight = await send(named.port, {
    method: 'OPTIONS',
    path: '/store/mcp',
    headers: { origin: shop, 'access-control-request-method': 'POST' },
  });
  assert.match(preflight.headers['access-control-allow-headers'] ?? '', /MCP-Protocol-Version, Mcp-Method, Mcp-Name/);
  assert.equal((await (await connect({ url: `${named.url}` }, named.secret, 'auto')).listTools()).tools.length, 8);
  await named.stop();
});
