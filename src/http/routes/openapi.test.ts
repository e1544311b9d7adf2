// Tests of the OpenAPI description: it passes a linter and agrees with the published description.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readDescription } from '../../../testing/description.ts';
import { post, send } from '../../../testing/request.ts';
import { startTestService } from '../../../testing/service.ts';
import type { StoredWebhook } from '../../domain/webhook.ts';
import { toMessage } from '../../webhooks/signed-message.ts';

test('/openapi.json passes the linter and agrees with the published description', async () => {
  const server = await startTestService();
  const { body, headers } = await send(server.port, { path: '/openapi.json' });
  await server.stop();
  assert.equal(headers['content-type'], 'application/json');

  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: body, absoluteRef: 'openapi.json', config });
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
    [],
  );

  const { openapi, info, paths, components } = JSON.parse(body);
  assert.match(openapi, /^3\.1\./);
  assert.equal(info.version, '1.0.0');
  assert.equal(info.license.identifier, 'MIT');
  const { type, scheme } = components.securitySchemes.bearerAuth;
  assert.deepEqual([type, scheme], ['http', 'bearer']);
  const { Plant, NewPlant, Error: ErrorSchema } = components.schemas;
  assert.deepEqual(Plant.required, ['name']);
  assert.deepEqual(Object.keys(Plant.properties), ['name', 'tag']);
  assert.deepEqual([...NewPlant.required].sort(), ['id', 'name']);
  assert.equal(NewPlant.properties.id.type, 'integer');
  assert.equal(NewPlant.properties.id.format, 'int64');
  assert.deepEqual(ErrorSchema.required, ['error', 'message']);
  assert.equal(ErrorSchema.properties.error.format, 'int32');
  const { post } = paths['/plants'];
  assert.deepEqual(post.requestBody.content['application/json'].schema, { $ref: '#/components/schemas/NewPlant' });
  assert.deepEqual(post.responses[200].content['application/json'].schema, { $ref: '#/components/schemas/Plant' });
  assert.deepEqual(Object.keys(post.responses), [
    ...['200', '400', '401', '403', '408', '413', '415', '429', '431', '500', '503'],
  ]);
});

test('clients generated from the published description work: the list is an array of Plants, and delete has no body', async () => {
  const server = await startTestService();
  const { components, paths } = await readDescription(server.port);
  const isPlants = new Ajv2020({ strict: false }).compile({ type: 'array', items: components.schemas?.Plant });
  const limit = paths['/plants']?.get?.parameters?.find(({ name }) => name === 'limit');
  assert.deepEqual([limit?.in, limit?.schema.type, limit?.schema.format], ['query', 'integer', 'int32']);

  await post(server, '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}');
  await post(server, '{"id":2,"name":"Acer"}');
  const headers = { authorization: `Bearer ${server.secret}` };
  const list = await send(server.port, { path: '/plants?limit=10', headers });
  assert.equal(list.status, 200);
  assert.ok(isPlants(JSON.parse(list.body)));
  assert.equal(JSON.parse(list.body).length, 2);
  const { status, body } = await send(server.port, { method: 'DELETE', path: '/plants/1', headers });
  assert.deepEqual([status, body], [204, '']);
  await server.stop();
});

test('the webhook-id in the description has the form of a sent one', async () => {
  const server = await startTestService();
  const { body } = await send(server.port, { path: '/openapi.json' });
  const examples = [...body.matchAll(/"((?:whk|msg)_3HqL0aYbT5nR[._][^"]*)"/g)].map(([, id]) => id);
  const webhook = { id: 'whk_3HqL0aYbT5nR', format: 'plant', secret: 'whsec_AAAA', oldSecret: null } as StoredWebhook;
  const change = { seq: 1042, type: 'plant.created', time: '', plant: { id: 1n, name: 'x' }, token: 'cli' } as const;
  const { headers } = toMessage(webhook, change, 0);
  assert.deepEqual(new Set(examples), new Set([headers['webhook-id']]));
  await server.stop();
});

test('every operation names its scopes', async () => {
  const server = await startTestService();
  const { paths } = await readDescription(server.port);
  const scopesOf = (path: string, method: string) => paths[path]?.[method]?.['x-required-scopes'];
  assert.deepEqual(scopesOf('/plants', 'post'), ['plants:write']);
  assert.deepEqual(scopesOf('/webhooks', 'post'), ['admin', 'plants:read']);
  assert.deepEqual(scopesOf('/tokens/self', 'get'), undefined);
  assert.deepEqual(paths['/tokens/self']?.get?.security, [{ bearerAuth: [] }]);
  assert.deepEqual(paths['/healthz']?.get?.security, []);
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { description, security, responses, 'x-required-scopes': scopes = [] }] of Object.entries(
      operations,
    )) {
      assert.equal(scopes.length > 0, '403' in responses, `${method} ${path}`);
      assert.equal(scopes.length > 0 && security.length === 0, false, `${method} ${path}`);
      for (const scope of scopes) {
        assert.ok(description.includes(`\`${scope}\``), `${method} ${path} describes no scope ${scope}`);
      }
    }
  }
  await server.stop();
});

test('the URL of the server is the one that the client has used', async () => {
  const direct = await startTestService({ env: { BASE_PATH: '/store' } });
  const proxied = await startTestService({ env: { TRUST_PROXY: 'loopback' } });
  const https = { 'x-forwarded-proto': 'https' };
  const urlOf = async ({ port }: { port: number }, path: string, headers: Record<string, string>) =>
    JSON.parse((await send(port, { path, headers })).body).servers[0].url;
  assert.equal(await urlOf(direct, '/store/openapi.json', {}), `http://127.0.0.1:${direct.port}/store`);
  assert.equal(await urlOf(direct, '/store/openapi.json', https), `http://127.0.0.1:${direct.port}/store`);
  assert.equal(await urlOf(direct, '/store/openapi.json', { host: '[::1]:80' }), 'http://[::1]:80/store');
  assert.equal(await urlOf(direct, '/store/openapi.json', { host: 'a"b/c' }), '/store');
  assert.equal(await urlOf(proxied, '/openapi.json', { host: 'plants.example', ...https }), 'https://plants.example');
  assert.equal(await urlOf(proxied, '/openapi.json', { host: 'a b' }), '/');
  const { headers } = await send(direct.port, { method: 'HEAD', path: '/store/openapi.json' });
  assert.equal(
    headers['content-length'],
    String(Buffer.byteLength((await send(direct.port, { path: '/store/openapi.json' })).body)),
  );
  await Promise.all([direct.stop(), proxied.stop()]);
});
