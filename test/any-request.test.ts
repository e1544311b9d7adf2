// Any request to any operation: never a 5xx, and no answer that the description does not name.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type CheckAnswer, createCheck } from './description.ts';
import { send } from './request.ts';
import { query, startServer, type TestServer } from './server.ts';

const RUNS = Number(process.env.ANY_REQUEST_RUNS ?? 1500);

let server: TestServer;
let check: CheckAnswer;
before(async () => {
  server = await startServer();
  check = await createCheck(server.port);
});
after(() => server.stop());

const ids = fc.constantFrom(
  '0',
  '1',
  '2',
  '-1',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '1.0',
  'x',
  '',
  '%00',
  '%zz',
  '../1',
  'export',
  'import',
);
const path = fc.oneof(
  { weight: 6, arbitrary: ids.map((id) => `/plants/${id}`) },
  { weight: 4, arbitrary: fc.constantFrom('/plants', '/plants/import', '/plants/export', '/events') },
  { weight: 1, arbitrary: fc.webPath().map((text) => `/${text}`) },
);
const value = fc.oneof(
  fc.constantFrom(
    '1',
    '0',
    '-1',
    '1000',
    '1001',
    'a',
    'mon del',
    '%zz',
    '%ff',
    '',
    '"',
    '*',
    'AND',
    '\u{10ffff}',
    'É',
    '9'.repeat(30),
  ),
  fc.string({ maxLength: 20 }),
);
const parameter = fc
  .tuple(fc.constantFrom('limit', 'cursor', 'tag', 'q', 'after', 'x'), value)
  .map(([name, text]) => `${name}=${/^%\w\w$/.test(text) ? text : encodeURIComponent(text)}`);
const etags = fc.constantFrom('*', '"1"', 'W/"1"', '"1", "2"', '"x"', '1', '', '"', ',', '"99999999999999999999"');
const headers = fc.record(
  {
    'if-match': etags,
    'if-none-match': etags,
    'content-type': fc.constantFrom(
      'application/json',
      'application/merge-patch+json',
      'application/x-ndjson',
      'text/csv',
      'text/plain',
      'x',
      '',
    ),
    accept: fc.constantFrom('text/csv', 'application/json', '*/*', 'x;q=a', ';,', ''),
    'last-event-id': fc.constantFrom('1', 'x', ''),
  },
  { requiredKeys: [] },
);
const member = fc.constantFrom(
  '"id":1',
  '"id":"1"',
  '"id":9223372036854775807',
  '"name":"Acer"',
  '"name":null',
  '"tag":"t"',
  '"tag":null',
  '"x":[1.5]',
);
const body = fc.oneof(
  fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
  fc.constantFrom('', '{', 'id,name,tag\n1,a,b\n', '{"id":2,"name":"x"}\n{"id":3}\n', '[]', 'null', '\ufeff'),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  path,
  parameters: fc.array(parameter, { maxLength: 3 }),
  headers,
  body: fc.option(body, { nil: undefined }),
});

/** Pages, and what has a protocol of its own. */
const UNDESCRIBED = /^\/(docs|mcp|assets\/[^/]*)?$/;

test('any request gets an answer that the description names, and the store stays in order', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ method, path: bare, parameters, headers: sent, body: text }) => {
      const whole = parameters.length === 0 ? bare : `${bare}?${parameters.join('&')}`;
      const answer = await send(server.port, {
        method,
        path: whole,
        headers: { ...sent, authorization: `Bearer ${server.secret}` },
        ...(text !== undefined && { body: text }),
      });
      assert.ok(answer.status < 500, `${answer.status} ${answer.body}`);
      if (!UNDESCRIBED.test(bare)) check(method, whole, answer);
    }),
    { numRuns: RUNS },
  );
  const [counts] = query(
    server.databasePath,
    `SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM plants JOIN changes USING (seq)) AS logged,
      (SELECT count(*) FROM words WHERE words MATCH '"a"*') AS indexed, (SELECT count(*) FROM plants WHERE name IN ('a', 'Acer')) AS named`,
  );
  assert.equal(counts?.plants, counts?.logged);
  assert.equal(counts?.indexed, counts?.named);
});
