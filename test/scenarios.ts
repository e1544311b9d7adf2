// The API as a table of requests and expected responses. The rows run from top to bottom, and later rows use the
// records of earlier rows. The table continues in record-scenarios.ts.

import { mintSecret } from '../src/domain/token-secret.ts';
import type { Sent } from '../testing/request.ts';

export interface Scenario {
  name: string;
  send: Sent;
  /** Authorization header that replaces the valid token. Null sends none. */
  authorization?: string | null;
  status: number;
  /** The number in the Error. */
  error?: number;
  /** Exact body of a successful response. TIME stands for any time. */
  body?: string | RegExp;
  /** Part of the error's message. */
  says?: string | RegExp;
  headers?: Record<string, string | RegExp>;
  /** Headers that the response must not have. */
  without?: string[];
  /** Expected row of `plants` after the request, or the id that must have none. */
  stored?: { id: bigint; name: string; tag: string | null } | { none: bigint };
}

/** Returns the request of a scenario, with the secret in place of GOOD. */
export function toRequest({ send, authorization = 'Bearer GOOD' }: Scenario, secret: string): Sent & { path: string } {
  const headers = { ...send.headers };
  if (authorization !== null) headers.authorization = authorization.replace('GOOD', secret);
  return { ...send, path: send.path?.replace('GOOD', secret) ?? '/', headers };
}

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;
const long = 'a'.repeat(40_000);

export function create(body: string | Uint8Array, headers: Record<string, string> = {}): Sent {
  return { method: 'POST', path: '/plants', headers: { 'content-type': 'application/json', ...headers }, body };
}

/** Returns a scenario with a valid body. The response must contain the same name and tag. */
function accepted(name: string, body: string, id: bigint, plantName: string, tag: string | null = null): Scenario {
  return {
    name,
    send: create(body),
    status: 200,
    body: JSON.stringify(tag === null ? { name: plantName } : { name: plantName, tag }),
    headers: { location: `/plants/${id}`, etag: /^"\d+"$/ },
    stored: { id, name: plantName, tag },
  };
}

function refused(name: string, body: string | Uint8Array, error: number, says: string | RegExp): Scenario {
  return { name, send: create(body), status: Math.floor(error / 100), error, says, without: ['location', 'etag'] };
}

const GIVEN: Scenario[] = [
  accepted(
    'a plant with a tag',
    '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}',
    1n,
    'Monstera deliciosa',
    'tropical',
  ),
  accepted('a plant without a tag', '{"id":2,"name":"Abies balsamea"}', 2n, 'Abies balsamea'),
  {
    name: 'the response is a Plant, which has no id',
    send: create('{"id":3,"name":"Acer rubrum","tag":"tree"}'),
    status: 200,
    body: '{"name":"Acer rubrum","tag":"tree"}',
    headers: { 'content-type': 'application/json' },
  },
  {
    name: 'a rejected request returns 400 with both fields of an Error',
    send: create('{"id":4}'),
    status: 400,
    error: 40002,
    says: '"name" is missing',
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    stored: { none: 4n },
  },
];

const VERBATIM: Scenario[] = [
  accepted('an empty name', '{"id":10,"name":""}', 10n, ''),
  accepted('an empty tag', '{"id":11,"name":"x","tag":""}', 11n, 'x', ''),
  accepted('a name of 40,000 characters', `{"id":12,"name":"${long}"}`, 12n, long),
  accepted('blanks at both ends', '{"id":13,"name":"  x\\t\\n"}', 13n, '  x\t\n'),
  accepted('the smallest id', `{"id":${MIN},"name":"min"}`, MIN, 'min'),
  accepted('the largest id', `{"id":${MAX},"name":"max"}`, MAX, 'max'),
  accepted('a name beyond the basic plane', '{"id":14,"name":"\\ud83c\\udf35 🌵"}', 14n, '🌵 🌵'),
  accepted('a name in NFC', '{"id":15,"name":"\u00c9t\u00e9"}', 15n, '\u00c9t\u00e9'),
  accepted('a name in NFD', '{"id":16,"name":"E\u0301te\u0301"}', 16n, 'E\u0301te\u0301'),
  {
    name: 'NFC for a name stored in NFD is a different plant',
    send: create('{"id":16,"name":"\u00c9t\u00e9"}'),
    status: 400,
    error: 40009,
  },
  accepted(
    'quotes, backslashes and controls',
    '{"id":17,"name":"\\"\\\\\\u0001\\u007f/\\u2028"}',
    17n,
    '"\\\u0001\u007f/\u2028',
  ),
  accepted('unknown fields are ignored', '{"id":18,"name":"x","colour":"green","nested":{"a":[1.5]}}', 18n, 'x'),
];

const REPLAY: Scenario[] = [
  accepted('a first create', '{"id":30,"name":"Rosa","tag":"shrub"}', 30n, 'Rosa', 'shrub'),
  {
    name: 'the same plant again is a replay',
    send: create('{"tag":"shrub","name":"Rosa","id":30.0,"x":1}'),
    status: 200,
    body: '{"name":"Rosa","tag":"shrub"}',
    headers: { 'idempotent-replayed': 'true', etag: /^"\d+"$/, location: '/plants/30' },
  },
  {
    name: 'another name for a used id',
    send: create('{"id":30,"name":"Rose","tag":"shrub"}'),
    status: 400,
    error: 40009,
    says: '30',
  },
  {
    name: 'another tag for a used id',
    send: create('{"id":30,"name":"Rosa","tag":"tree"}'),
    status: 400,
    error: 40009,
  },
  {
    name: 'no tag for a used id with a tag',
    send: create('{"id":30,"name":"Rosa"}'),
    status: 400,
    error: 40009,
    without: ['etag', 'location', 'idempotent-replayed'],
    stored: { id: 30n, name: 'Rosa', tag: 'shrub' },
  },
  {
    name: 'an empty tag for a used id without a tag',
    send: create('{"id":2,"name":"Abies balsamea","tag":""}'),
    status: 400,
    error: 40009,
  },
  {
    name: 'a new plant is not a replay',
    send: create('{"id":31,"name":"Rosa"}'),
    status: 200,
    without: ['idempotent-replayed'],
  },
];

const JSON_EDGE_CASES: Scenario[] = [
  accepted(
    'id 1.0 is the integer 1',
    '{"id":1.0,"name":"Monstera deliciosa","tag":"tropical"}',
    1n,
    'Monstera deliciosa',
    'tropical',
  ),
  accepted('id 1e3 is the integer 1000', '{"id":1e3,"name":"x"}', 1000n, 'x'),
  accepted('id -0 is the integer 0', '{"id":-0,"name":"x"}', 0n, 'x'),
  accepted('id 9007199254740993', '{"id":9007199254740993,"name":"x"}', 9007199254740993n, 'x'),
  accepted('id 9.223372036854775806e18', '{"id":9.223372036854775806e18,"name":"x"}', 9223372036854775806n, 'x'),
  refused('id 9223372036854775808', '{"id":9223372036854775808,"name":"x"}', 40002, '"id" must be between'),
  refused('id -9223372036854775809', '{"id":-9223372036854775809,"name":"x"}', 40002, '"id" must be between'),
  refused('id 1e19', '{"id":1e19,"name":"x"}', 40002, '"id" must be between'),
  refused('id 1.5', '{"id":1.5,"name":"x"}', 40002, '"id" must be an integer'),
  refused('id 1e400', '{"id":1e400,"name":"x"}', 40002, '"id" must be between'),
  refused('id 1e-400', '{"id":1e-400,"name":"x"}', 40002, '"id" must be an integer'),
  refused('id 1.00000000000000000001', '{"id":1.00000000000000000001,"name":"x"}', 40002, '"id" must be an integer'),
  refused('id "5"', '{"id":"5","name":"x"}', 40002, '"id" must be an integer'),
  refused('id true', '{"id":true,"name":"x"}', 40002, '"id" must be an integer'),
  refused('id null', '{"id":null,"name":"x"}', 40002, '"id" must be an integer'),
  refused('id an object with a toString', '{"id":{"toString":1},"name":"x"}', 40002, '"id" must be an integer'),
  refused('id "Infinity"', '{"id":"Infinity","name":"x"}', 40002, '"id" must be an integer'),
  refused('no id', '{"name":"x"}', 40002, '"id" is missing'),
  refused('tag null', '{"id":5,"name":"x","tag":null}', 40002, '"tag" must be a string'),
  refused('name 5', '{"id":5,"name":5}', 40002, '"name" must be a string'),
  refused('all errors are reported', '{"id":"5","tag":1}', 40002, /"id" must be.*"name" is missing.*"tag" must be/),
  refused('body []', '[]', 40002, 'The body must be an object'),
  refused('body "x"', '"x"', 40002, 'The body must be an object'),
  refused('body null', 'null', 40002, 'The body must be an object'),
  refused('body {}', '{}', 40002, 'is missing'),
  refused('U+0000 in the name', '{"id":5,"name":"a\\u0000b"}', 40002, '"name" must not contain U+0000'),
  refused('U+0000 in the tag', '{"id":5,"name":"x","tag":"\\u0000"}', 40002, '"tag" must not contain U+0000'),
  refused(
    'a lone surrogate in the name',
    '{"id":5,"name":"\\ud800"}',
    40002,
    '"name" must not contain a lone surrogate',
  ),
  refused(
    'a lone surrogate in the tag',
    '{"id":5,"name":"x","tag":"\\udc00x"}',
    40002,
    '"tag" must not contain a lone surrogate',
  ),
  accepted('of a repeated field, the last value counts', '{"id":6,"id":40,"name":5,"name":"last"}', 40n, 'last'),
  refused(
    'an invalid value after a valid one for the same field',
    '{"id":41,"id":"x","name":"x"}',
    40002,
    '"id" must be an integer',
  ),
  accepted(
    '__proto__ and constructor are ignored',
    '{"id":42,"name":"x","__proto__":{"tag":"p"},"constructor":1}',
    42n,
    'x',
  ),
  refused('__proto__ adds no fields', '{"__proto__":{"id":43,"name":"x"}}', 40002, 'is missing'),
];

const NOT_JSON: Scenario[] = [
  refused('an empty body', '', 40001, 'is empty'),
  refused('white space only', ' \n', 40001, 'cannot be read as JSON'),
  refused('not UTF-8', Buffer.from('{"id":50,"name":"\xe9"}', 'latin1'), 40001, 'is not UTF-8'),
  refused('a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 40001, 'is not UTF-8'),
  refused('a byte order mark', '\ufeff{"id":50,"name":"x"}', 40001, 'byte order mark'),
  refused('UTF-16', Buffer.from('{"id":50,"name":"x"}', 'utf16le'), 40001, 'cannot be read as JSON'),
  refused('half an object', '{"id":50,', 40001, 'cannot be read as JSON'),
  refused('two values', '{"id":50,"name":"x"} {}', 40001, 'cannot be read as JSON'),
  refused('single quotes', "{'id':50}", 40001, 'cannot be read as JSON'),
  refused('a comment', '{"id":50,"name":"x"}//', 40001, 'cannot be read as JSON'),
  refused('a trailing comma', '{"id":50,"name":"x",}', 40001, 'cannot be read as JSON'),
  refused('id 05', '{"id":05,"name":"x"}', 40001, 'cannot be read as JSON'),
  refused('id NaN', '{"id":NaN,"name":"x"}', 40001, 'cannot be read as JSON'),
  refused('id +5', '{"id":+5,"name":"x"}', 40001, 'cannot be read as JSON'),
  refused('a raw control character', '{"id":50,"name":"a\u0001"}', 40001, 'cannot be read as JSON'),
  refused('a raw U+0000', '{"id":50,"name":"a\0"}', 40001, 'cannot be read as JSON'),
  accepted('32 levels of nesting', `{"id":50,"name":"x","y":${'['.repeat(31)}${']'.repeat(31)}}`, 50n, 'x'),
  refused('33 levels of nesting', `{"id":51,"name":"x","y":${'['.repeat(32)}${']'.repeat(32)}}`, 40001, 'levels deep'),
  refused('30,000 levels of nesting', '['.repeat(30_000), 40001, 'levels deep'),
  refused('a number of 60,000 digits', `{"id":${'9'.repeat(60_000)},"name":"x"}`, 40002, '"id" must be'),
];

const good = '{"id":60,"name":"x"}';
const needsJson = { status: 415, error: 41500, headers: { accept: 'application/json' } };

const HTTP_LAYER: Scenario[] = [
  { name: 'no Content-Type', send: { method: 'POST', path: '/plants', body: good }, ...needsJson },
  { name: 'no Content-Type and no body', send: { method: 'POST', path: '/plants' }, ...needsJson },
  { name: 'text/plain', send: create(good, { 'content-type': 'text/plain' }), ...needsJson },
  { name: 'application/jsonx', send: create(good, { 'content-type': 'application/jsonx' }), ...needsJson },
  {
    name: 'application/merge-patch+json',
    send: create(good, { 'content-type': 'application/merge-patch+json' }),
    ...needsJson,
  },
  { name: 'charset=utf-16', send: create(good, { 'content-type': 'application/json; charset=utf-16' }), ...needsJson },
  {
    name: 'charset=latin1',
    send: create(good, { 'content-type': 'application/json;charset=ISO-8859-1' }),
    ...needsJson,
  },
  {
    name: 'a compressed body',
    send: create(good, { 'content-encoding': 'gzip' }),
    status: 415,
    error: 41500,
    headers: { 'accept-encoding': 'identity' },
    stored: { none: 60n },
  },
  {
    name: 'charset=utf-8 is accepted',
    send: create('{"id":61,"name":"x"}', { 'content-type': 'application/json; charset=utf-8' }),
    status: 200,
  },
  {
    name: 'charset="UTF-8" is accepted',
    send: create('{"id":61,"name":"x"}', { 'content-type': 'Application/JSON;charset="UTF-8"' }),
    status: 200,
  },
  {
    name: 'another parameter is accepted',
    send: create('{"id":61,"name":"x"}', { 'content-type': 'application/json; profile=a' }),
    status: 200,
  },
  {
    name: 'a body of 64 KiB',
    send: create(`{"id":62,"name":"${'x'.repeat(65_536 - 19)}"}`),
    status: 200,
  },
  {
    name: 'a body of 64 KiB and a byte',
    send: create(`{"id":63,"name":"${'x'.repeat(65_537 - 19)}"}`),
    status: 413,
    error: 41300,
    headers: { connection: 'close' },
    stored: { none: 63n },
  },
  {
    name: 'a chunked body over 64 KiB',
    send: create(`{"id":63,"name":"${'x'.repeat(65_537 - 19)}"}`, { 'transfer-encoding': 'chunked' }),
    status: 413,
    error: 41300,
    headers: { connection: 'close' },
    stored: { none: 63n },
  },
  { name: 'a chunked body', send: create('{"id":64,"name":"x"}', { 'transfer-encoding': 'chunked' }), status: 200 },
  { name: 'an unknown path', send: { path: '/nope' }, authorization: null, status: 404, error: 40400 },
  { name: 'an unknown path with a body', send: { ...create(good), path: '/nope' }, status: 404, error: 40400 },
  { name: 'an unknown path below /plants', send: { path: '/plants/a/b/c' }, status: 404, error: 40400 },
  { name: 'a trailing slash is another path', send: { ...create(good), path: '/plants/' }, status: 404, error: 40400 },
  {
    name: 'a path with invalid percent-encoding',
    send: { path: '/%zz' },
    authorization: null,
    status: 400,
    error: 40003,
  },
  {
    name: 'a method that the path does not support',
    send: { method: 'PUT', path: '/plants' },
    status: 405,
    error: 40500,
    headers: { allow: 'POST, GET, HEAD' },
  },
  {
    name: 'a method that no path supports',
    send: { method: 'PROPFIND', path: '/plants' },
    status: 405,
    error: 40500,
    headers: { allow: 'POST, GET, HEAD' },
  },
  {
    name: 'an unsupported method on a path without authentication',
    send: { method: 'POST', path: '/healthz' },
    authorization: null,
    status: 405,
    error: 40500,
    headers: { allow: 'GET, HEAD' },
  },
  {
    name: 'query parameters are ignored',
    send: { ...create('{"id":65,"name":"x"}'), path: '/plants?id=9&x=%zz' },
    status: 200,
  },
  { name: 'a percent-encoded path', send: { ...create('{"id":65,"name":"x"}'), path: '/%70lants' }, status: 200 },
  { name: 'Expect: 100-continue', send: create('{"id":66,"name":"x"}', { expect: '100-continue' }), status: 200 },
  { name: 'an unknown expectation', send: create('{"id":66,"name":"x"}', { expect: 'tea' }), status: 200 },
  {
    name: "the response repeats the client's request id",
    send: create('{"id":67,"name":"x"}', { 'x-request-id': 'shop-42/a:b' }),
    status: 200,
    headers: { 'x-request-id': 'shop-42/a:b' },
  },
  {
    name: 'an invalid request id is replaced',
    send: create('{', { 'x-request-id': 'a b<script>' }),
    status: 400,
    error: 40001,
    headers: { 'x-request-id': /^[0-9a-f-]{36}$/ },
  },
  {
    name: '/healthz reports a live server',
    send: { path: '/healthz' },
    authorization: null,
    status: 200,
    body: '{"status":"ok"}',
    headers: { 'content-type': 'application/json' },
  },
  {
    name: '/readyz reports a server that can write',
    send: { path: '/readyz' },
    authorization: null,
    status: 200,
    body: '{"status":"ready"}',
  },
  { name: 'HEAD of /healthz', send: { method: 'HEAD', path: '/healthz' }, authorization: null, status: 200, body: '' },
  {
    name: 'the OpenAPI description',
    send: { path: '/openapi.json' },
    authorization: null,
    status: 200,
    headers: { 'content-type': 'application/json' },
  },
];

const challenge = 'Bearer realm="plant-store"';
const nobody = { status: 401, error: 40101, headers: { 'www-authenticate': challenge } };
const stranger = { status: 401, error: 40102, headers: { 'www-authenticate': `${challenge}, error="invalid_token"` } };
const unknown = mintSecret(() => 0);

const CREDENTIALS: Scenario[] = [
  { name: 'no credentials', send: create(good), authorization: null, ...nobody },
  { name: 'another scheme', send: create(good), authorization: 'Basic dXNlcjpwYXNz', ...nobody },
  { name: 'an empty header', send: create(good), authorization: '', ...nobody },
  { name: 'no secret', send: create(good), authorization: 'Bearer', ...stranger },
  { name: 'a malformed secret', send: create(good), authorization: 'Bearer x', ...stranger },
  {
    name: 'a typo in the secret',
    send: create(good),
    authorization: `Bearer ${unknown.replace('pst_0', 'pst_1')}`,
    ...stranger,
  },
  { name: 'an unknown secret', send: create(good), authorization: `Bearer ${unknown}`, ...stranger },
  {
    name: 'a token in the query only',
    send: { ...create(good), path: '/plants?access_token=GOOD' },
    authorization: null,
    ...nobody,
  },
  {
    name: 'credentials are checked before the media type',
    send: { method: 'POST', path: '/plants', body: 'x' },
    authorization: null,
    ...nobody,
  },
  { name: 'credentials are checked before the size', send: create('x'.repeat(70_000)), authorization: null, ...nobody },
  { name: 'credentials are checked before the JSON', send: create('{'), authorization: null, ...nobody },
  {
    name: 'credentials are checked before a used id',
    send: create('{"id":1,"name":"other"}'),
    authorization: null,
    ...nobody,
  },
  { name: 'credentials are checked before the method', send: { path: '/plants' }, authorization: null, ...nobody },
  {
    name: 'credentials are checked before an unknown path',
    send: { path: '/plants/a/b/c' },
    authorization: null,
    ...nobody,
  },
  {
    name: 'credentials are checked before an unknown percent-encoded path',
    send: { path: '/%70lants/a/b' },
    authorization: null,
    ...nobody,
  },
  {
    name: 'credentials are checked before invalid percent-encoding',
    send: { path: '/plants/%zz' },
    authorization: null,
    ...nobody,
  },
  {
    name: 'the scheme ignores case',
    send: create('{"id":70,"name":"x"}'),
    authorization: 'bEARER GOOD',
    status: 200,
    stored: { id: 70n, name: 'x', tag: null },
  },
];

export const SCENARIOS: Record<string, Scenario[]> = {
  'the published description': GIVEN,
  'every text and every id is stored verbatim': VERBATIM,
  'a retry with the same id is safe': REPLAY,
  'JSON edge cases': JSON_EDGE_CASES,
  'invalid JSON': NOT_JSON,
  'the HTTP layer': HTTP_LAYER,
  'credentials are checked first': CREDENTIALS,
};
