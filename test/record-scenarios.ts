// The API as a table, continued: records that are read, listed, searched, changed and deleted, imports, exports,
// and the change log.

import { create, type Scenario } from './scenarios.ts';

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;

function put(id: bigint | number | string, body: string, headers: Record<string, string> = {}) {
  return { method: 'PUT', path: `/plants/${id}`, headers: { 'content-type': 'application/json', ...headers }, body };
}

function patch(id: bigint | number | string, body: string, headers: Record<string, string> = {}) {
  const type = { 'content-type': 'application/merge-patch+json' };
  return { method: 'PATCH', path: `/plants/${id}`, headers: { ...type, ...headers }, body };
}

export function record(id: bigint | number, name: string, tag?: string): string {
  const printed = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
  return `{"id":${id},"name":${JSON.stringify(name)}${printed},"created":"TIME","updated":"TIME"}`;
}

export function badParameter(name: string, path: string, says = ''): Scenario {
  return { name, send: { path }, status: 400, error: 40003, says };
}

const READ: Scenario[] = [
  {
    name: 'a plant is created for the following requests',
    send: create('{"id":2000,"name":"Rosa canina","tag":"shrub"}'),
    status: 200,
    headers: { location: '/plants/2000' },
  },
  {
    name: 'a record has its times and its ETag',
    send: { path: '/plants/2000' },
    status: 200,
    body: record(2000, 'Rosa canina', 'shrub'),
    headers: { etag: /^"\d+"$/, 'content-type': 'application/json' },
  },
  { name: 'the largest id', send: { path: `/plants/${MAX}` }, status: 200, body: record(MAX, 'max') },
  { name: 'the smallest id', send: { path: `/plants/${MIN}` }, status: 200, body: record(MIN, 'min') },
  {
    name: 'a percent-encoded id',
    send: { path: '/plants/%32000' },
    status: 200,
    body: record(2000, 'Rosa canina', 'shrub'),
  },
  {
    name: 'HEAD of a record',
    send: { method: 'HEAD', path: '/plants/2000' },
    status: 200,
    headers: { etag: /^"\d+"$/ },
  },
  {
    name: 'an id without a plant',
    send: { path: '/plants/4040' },
    status: 404,
    error: 40401,
    says: '4040',
    without: ['etag'],
  },
  badParameter('an id that is not a number', '/plants/abc', 'The id in the path must be an integer'),
  badParameter('an id beyond int64', '/plants/9223372036854775808'),
  badParameter('an id below int64', '/plants/-9223372036854775809'),
  badParameter('an id with a fraction', '/plants/1.0'),
  badParameter('an id with a leading zero', '/plants/02000'),
  badParameter('an id with a plus sign', '/plants/+2000'),
  badParameter('an id of 5,000 digits', `/plants/${'9'.repeat(5000)}`),
  badParameter('the id -0', '/plants/-0'),
  badParameter('an id with a blank', '/plants/%202000'),
  { name: 'an empty id', send: { path: '/plants/' }, status: 404, error: 40400 },
  {
    name: 'If-None-Match with another version',
    send: { path: '/plants/2000', headers: { 'if-none-match': '"999999"' } },
    status: 200,
  },
  {
    name: 'If-None-Match: * for an existing plant',
    send: { path: '/plants/2000', headers: { 'if-none-match': '*' } },
    status: 304,
    body: '',
    headers: { etag: /^"\d+"$/ },
  },
  {
    name: 'If-None-Match: * for a missing plant',
    send: { path: '/plants/4040', headers: { 'if-none-match': '*' } },
    status: 404,
    error: 40401,
  },
  {
    name: 'a read whose If-Match names the stored version, as a weak ETag',
    send: { path: '/plants/1', headers: { 'if-match': 'W/"1"' } },
    status: 200,
    headers: { etag: '"1"' },
  },
  {
    name: 'a read whose If-Match names another version',
    send: { path: '/plants/2000', headers: { 'if-match': '"999999"' } },
    status: 412,
    error: 41200,
    headers: { etag: /^"\d+"$/ },
  },
  ...['"x,y", "999999"', ',,"999999", ,', ''].map((value) => ({
    name: `If-None-Match: ${value} does not name the stored version`,
    send: { path: '/plants/2000', headers: { 'if-none-match': value } },
    status: 200,
  })),
  ...['2000', '"1', '"a"b', 'W/5', '"1" "2"', '* , "1"', '"a b"'].map((value) => ({
    name: `If-None-Match: ${value} is malformed`,
    send: { path: '/plants/2000', headers: { 'if-none-match': value } },
    status: 400,
    error: 40003,
    says: 'If-None-Match must be',
  })),
];

const CHANGE: Scenario[] = [
  {
    name: 'PUT creates a plant',
    send: put(2100, '{"name":"Acer","tag":"tree"}'),
    status: 200,
    body: record(2100, 'Acer', 'tree'),
    headers: { etag: /^"\d+"$/ },
    stored: { id: 2100n, name: 'Acer', tag: 'tree' },
  },
  {
    name: 'PUT replaces a plant and removes an omitted tag',
    send: put(2100, '{"name":"Acer rubrum"}'),
    status: 200,
    body: record(2100, 'Acer rubrum'),
    stored: { id: 2100n, name: 'Acer rubrum', tag: null },
  },
  { name: 'PUT ignores unknown fields', send: put(2100, '{"id":5,"name":"Acer rubrum","x":1}'), status: 200 },
  { name: 'PUT without a name', send: put(2100, '{"tag":"x"}'), status: 400, error: 40002, says: '"name" is missing' },
  { name: 'PUT with tag null', send: put(2100, '{"name":"x","tag":null}'), status: 400, error: 40002 },
  { name: 'PUT with a body that is not JSON', send: put(2100, '{'), status: 400, error: 40001 },
  { name: 'PUT to an invalid id', send: put('x', '{"name":"x"}'), status: 400, error: 40003 },
  {
    name: 'PUT with the media type of a merge patch',
    send: put(2100, '{"name":"x"}', { 'content-type': 'application/merge-patch+json' }),
    status: 415,
    error: 41500,
    headers: { accept: 'application/json' },
  },
  {
    name: 'PUT with If-None-Match: * for an existing plant',
    send: put(2100, '{"name":"x"}', { 'if-none-match': '*' }),
    status: 412,
    error: 41200,
    headers: { etag: /^"\d+"$/ },
    stored: { id: 2100n, name: 'Acer rubrum', tag: null },
  },
  {
    name: 'PUT with If-None-Match: * for a new plant',
    send: put(2101, '{"name":"Acer"}', { 'if-none-match': '*' }),
    status: 200,
  },
  {
    name: 'PUT with If-Match for a missing plant',
    send: put(2102, '{"name":"x"}', { 'if-match': '*' }),
    status: 412,
    error: 41200,
    without: ['etag'],
    stored: { none: 2102n },
  },
  { name: 'PUT with If-Match: *', send: put(2101, '{"name":"Acer x"}', { 'if-match': '*' }), status: 200 },
  ...['W/"1"', '"999999", W/"1"', 'W/"999999",W/"1"'].map((value) => ({
    name: `PUT with the stored version in If-Match: ${value}`,
    send: put(1, '{"name":"Monstera deliciosa","tag":"tropical"}', { 'if-match': value }),
    status: 200,
    body: record(1, 'Monstera deliciosa', 'tropical'),
    headers: { etag: '"1"' },
  })),
  {
    name: 'PUT with other versions in If-Match, some of them weak',
    send: put(1, '{"name":"y"}', { 'if-match': 'W/"999998", "999999"' }),
    status: 412,
    error: 41200,
    headers: { etag: '"1"' },
    stored: { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
  },
  {
    name: 'PATCH with a weak ETag in If-Match',
    send: patch(1, '{"tag":"tropical"}', { 'if-match': 'W/"1"' }),
    status: 200,
    headers: { etag: '"1"' },
  },
  {
    name: 'DELETE with another version in If-Match, as a weak ETag',
    send: { method: 'DELETE', path: '/plants/1', headers: { 'if-match': 'W/"2"' } },
    status: 412,
    error: 41200,
    headers: { etag: '"1"' },
  },
  {
    name: 'DELETE with the stored version in If-Match, as a weak ETag',
    send: { method: 'DELETE', path: '/plants/2', headers: { 'if-match': 'W/"2"' } },
    status: 204,
    stored: { none: 2n },
  },
  {
    name: 'PUT with an unquoted If-Match',
    send: put(2101, '{"name":"y"}', { 'if-match': '17' }),
    status: 400,
    error: 40003,
    says: 'If-Match must be',
  },
  {
    name: 'PATCH of the tag',
    send: patch(2100, '{"tag":"tree"}'),
    status: 200,
    body: record(2100, 'Acer rubrum', 'tree'),
  },
  { name: 'PATCH of the name', send: patch(2100, '{"name":"Acer"}'), status: 200, body: record(2100, 'Acer', 'tree') },
  {
    name: 'PATCH as application/json, with the same id',
    send: patch(2100, '{"id":2100,"tag":null}', { 'content-type': 'application/json' }),
    status: 200,
    body: record(2100, 'Acer'),
    stored: { id: 2100n, name: 'Acer', tag: null },
  },
  {
    name: 'PATCH without a known field',
    send: patch(2100, '{"created":"x"}'),
    status: 200,
    body: record(2100, 'Acer'),
  },
  {
    name: 'PATCH with another id',
    send: patch(2100, '{"id":2101,"name":"x"}'),
    status: 400,
    error: 40002,
    says: '"id" must be 2100',
  },
  { name: 'PATCH of the name to null', send: patch(2100, '{"name":null}'), status: 400, error: 40002, says: '"name"' },
  { name: 'PATCH with an array', send: patch(2100, '[]'), status: 400, error: 40002, says: 'must be an object' },
  { name: 'PATCH of a missing plant', send: patch(4040, '{"name":"x"}'), status: 404, error: 40401 },
  {
    name: 'PATCH of a missing plant with If-Match',
    send: patch(4040, '{"name":"x"}', { 'if-match': '"1"' }),
    status: 404,
    error: 40401,
  },
  {
    name: 'PATCH with another version in If-Match',
    send: patch(2100, '{"name":"x"}', { 'if-match': '"999999"' }),
    status: 412,
    error: 41200,
    headers: { etag: /^"\d+"$/ },
  },
  {
    name: 'PATCH as text/plain',
    send: patch(2100, '{}', { 'content-type': 'text/plain' }),
    status: 415,
    error: 41500,
    headers: { accept: 'application/json, application/merge-patch+json' },
  },
  {
    name: 'DELETE with another version in If-Match',
    send: { method: 'DELETE', path: '/plants/2100', headers: { 'if-match': '"999999"' } },
    status: 412,
    error: 41200,
  },
  {
    name: 'DELETE',
    send: { method: 'DELETE', path: '/plants/2100' },
    status: 204,
    body: '',
    without: ['content-type', 'content-length'],
    stored: { none: 2100n },
  },
  {
    name: 'DELETE with an unnecessary body and Content-Type',
    send: { method: 'DELETE', path: '/plants/4040', headers: { 'content-type': 'x' }, body: 'x' },
    status: 404,
    error: 40401,
  },
  { name: 'DELETE again', send: { method: 'DELETE', path: '/plants/2100' }, status: 404, error: 40401 },
  { name: 'DELETE of an invalid id', send: { method: 'DELETE', path: '/plants/x' }, status: 400, error: 40003 },
  {
    name: 'a deleted id can be used again',
    send: create('{"id":2100,"name":"Quercus"}'),
    status: 200,
    without: ['idempotent-replayed'],
    stored: { id: 2100n, name: 'Quercus', tag: null },
  },
  {
    name: 'POST to a record',
    send: { method: 'POST', path: '/plants/2100' },
    status: 405,
    error: 40500,
    headers: { allow: 'GET, HEAD, PUT, PATCH, DELETE' },
  },
];

const LIST: Scenario[] = [
  {
    name: 'a page starts at the smallest id',
    send: { path: '/plants?limit=1' },
    status: 200,
    body: `[${record(MIN, 'min')}]`,
    headers: { link: /^<\/plants\?limit=1&cursor=[\w-]+>; rel="next"$/ },
  },
  {
    name: 'a search by words of the name ignores case and accents',
    send: { path: '/plants?q=MON+del' },
    status: 200,
    body: `[${record(1, 'Monstera deliciosa', 'tropical')}]`,
    without: ['link'],
  },
  {
    name: 'a search with accents finds NFC and NFD',
    send: { path: `/plants?q=${encodeURIComponent('été')}` },
    status: 200,
    body: `[${record(15, '\u00c9t\u00e9')},${record(16, 'E\u0301te\u0301')}]`,
  },
  {
    name: 'a search for words that no name combines',
    send: { path: '/plants?q=mon+acer' },
    status: 200,
    body: '[]',
    without: ['link'],
  },
  {
    name: 'a filter by tag',
    send: { path: '/plants?tag=tropical' },
    status: 200,
    body: `[${record(1, 'Monstera deliciosa', 'tropical')}]`,
  },
  { name: 'a filter by a tag that no plant can have', send: { path: '/plants?tag=a%00b' }, status: 200, body: '[]' },
  { name: 'a filter by tag is case-sensitive', send: { path: '/plants?tag=Tropical' }, status: 200, body: '[]' },
  {
    name: 'a filter by an empty tag excludes plants without a tag',
    send: { path: '/plants?tag=' },
    status: 200,
    body: `[${record(11, 'x', '')}]`,
  },
  { name: 'a filter by tag with a search', send: { path: '/plants?tag=tropical&q=x' }, status: 200, body: '[]' },
  { name: 'a limit over 1000 counts as 1000', send: { path: '/plants?limit=5000&tag=tropical' }, status: 200 },
  { name: 'a limit of 400 digits', send: { path: `/plants?limit=${'9'.repeat(400)}&tag=tropical` }, status: 200 },
  { name: 'unknown parameters are ignored', send: { path: '/plants?tag=tropical&colour=%zz&limi=0' }, status: 200 },
  badParameter('limit 0', '/plants?limit=0', '"limit" must be an integer of at least 1'),
  badParameter('limit -1', '/plants?limit=-1'),
  badParameter('limit abc', '/plants?limit=abc'),
  badParameter('limit 1.5', '/plants?limit=1.5'),
  badParameter('limit 1e2', '/plants?limit=1e2'),
  badParameter('an empty limit', '/plants?limit='),
  badParameter('limit without a value', '/plants?limit'),
  badParameter('limit twice', '/plants?limit=1&limit=2', '"limit" must not be repeated'),
  badParameter('a made-up cursor', '/plants?cursor=abc', '"cursor"'),
  badParameter('an empty cursor', '/plants?cursor=', '"cursor"'),
  badParameter('a query that cannot be decoded', '/plants?q=%zz', '"q" must be percent-encoded UTF-8'),
  badParameter('a query that is not UTF-8', '/plants?q=%ff', '"q" must be percent-encoded UTF-8'),
];

const METHODS: Scenario[] = [
  ['GET', '/plants/import', 'POST'],
  ['PUT', '/plants/import', 'POST'],
  ['HEAD', '/plants/import', 'POST'],
  ['POST', '/plants/export', 'GET, HEAD'],
  ['DELETE', '/plants/summary', 'GET, HEAD'],
  ['DELETE', '/plants/export', 'GET, HEAD'],
].map(([method, path, allow]) => ({
  name: `${method} ${path} is not treated as a record`,
  send: { method: method as string, path: path as string },
  status: 405,
  ...(method !== 'HEAD' && { error: 40500 }),
  headers: { allow: allow as string },
}));

const ndjson = { 'content-type': 'application/x-ndjson' };
const csv = { 'content-type': 'text/csv; charset=utf-8' };

function load(body: string | Uint8Array, headers: Record<string, string> = ndjson) {
  return { method: 'POST', path: '/plants/import', headers, body };
}

const TRANSFER: Scenario[] = [
  {
    name: 'NDJSON, with every invalid line reported',
    send: load(
      '{"id":3000,"name":"Ficus","tag":"tree"}\n\nnope\r\n{"id":1,"name":"other"}\n{"id":3000,"name":"Ficus","tag":"tree"}\n{"id":3001,"name":"=1+1"}',
    ),
    status: 200,
    body:
      '{"created":2,"replayed":1,"failed":2,"errors":[' +
      '{"line":3,"error":40001,"message":"The line cannot be read as JSON: Unexpected token \'o\', \\"nope\\" is not valid JSON"},' +
      '{"line":4,"error":40009,"message":"Id 1 belongs to another plant. Use another id."}]}',
    stored: { id: 3001n, name: '=1+1', tag: null },
  },
  {
    name: 'CSV, with quotes, line feeds and an empty tag',
    send: load('id,name,tag\r\n3010,"a ""b""\r\nc",\r\n3011,@x,""\r\n9223372036854775808,x,\r\nx\r\n', csv),
    status: 200,
    body:
      '{"created":2,"replayed":0,"failed":2,"errors":[' +
      '{"line":5,"error":40002,"message":"\\"id\\" must be between -9223372036854775808 and 9223372036854775807"},' +
      '{"line":6,"error":40002,"message":"\\"id\\" must be an integer; \\"name\\" is missing"}]}',
    stored: { id: 3011n, name: '@x', tag: '' },
  },
  {
    name: 'the stored text keeps the line feed',
    send: { path: '/plants/3010' },
    status: 200,
    body: record(3010, 'a "b"\r\nc'),
  },
  {
    name: 'CSV with other columns, in another order, and a byte order mark',
    send: load('\ufeffname,colour,id\nFicus,green,3012\n', csv),
    status: 200,
    body: '{"created":1,"replayed":0,"failed":0,"errors":[]}',
    stored: { id: 3012n, name: 'Ficus', tag: null },
  },
  {
    name: 'CSV without a header row',
    send: load('3013,Ficus,tree\n', csv),
    status: 400,
    error: 40002,
    says: 'The first line has no column "id" (it has: 3013, ficus, tree)',
    stored: { none: 3013n },
  },
  {
    name: 'CSV as text/plain, as generated clients send it',
    send: load('id,name,tag\n3017,Ficus,tree\n', { 'content-type': 'text/plain' }),
    status: 200,
    body: '{"created":1,"replayed":0,"failed":0,"errors":[]}',
    stored: { id: 3017n, name: 'Ficus', tag: 'tree' },
  },
  {
    name: 'NDJSON as text/plain',
    send: load('\n{"id":3018,"name":"Ficus"}\n', { 'content-type': 'text/plain;charset=UTF-8' }),
    status: 200,
    body: '{"created":1,"replayed":0,"failed":0,"errors":[]}',
    stored: { id: 3018n, name: 'Ficus', tag: null },
  },
  {
    name: 'a file that a client has encoded as JSON',
    send: load(JSON.stringify('id,name,tag\n3019,Ficus,tree\n'), { 'content-type': 'text/plain' }),
    status: 400,
    error: 40002,
    says: 'The first line has no column "id"',
    stored: { none: 3019n },
  },
  { name: 'an empty file', send: load(''), status: 200, body: '{"created":0,"replayed":0,"failed":0,"errors":[]}' },
  { name: 'an empty CSV file', send: load('', csv), status: 400, error: 40001, says: 'The file is empty' },
  {
    name: 'a CSV file whose line ends were lost',
    send: load('id,name,tag3015,Ficus,tree', csv),
    status: 400,
    error: 40001,
    says: '--data-binary',
    stored: { none: 3015n },
  },
  {
    name: 'a CSV file in UTF-16',
    send: load(Buffer.from('id,name,tag\n3016,Ficus,tree\n', 'utf16le'), csv),
    status: 400,
    error: 40002,
    says: 'it may be UTF-16). Save the file as UTF-8',
    stored: { none: 3016n },
  },
  {
    name: 'a header row alone, as in the export of an empty store',
    send: load('id,name,tag\n', csv),
    status: 200,
    body: '{"created":0,"replayed":0,"failed":0,"errors":[]}',
  },
  {
    name: 'a header row alone, without a line end',
    send: load('id,name,tag', csv),
    status: 400,
    error: 40001,
    says: '--data-binary',
  },
  {
    name: 'a line that is not UTF-8',
    send: load(Buffer.from('{"id":3020,"name":"\xe9"}\n{"id":3021,"name":"x"}\n', 'latin1')),
    status: 200,
    body: '{"created":1,"replayed":0,"failed":1,"errors":[{"line":1,"error":40001,"message":"The line is not UTF-8. Save the file as UTF-8."}]}',
  },
  {
    name: 'a line over 64 KiB',
    send: load(`{"id":3022,"name":"${'x'.repeat(70_000)}"}\n{"id":3023,"name":"x"}\n`),
    status: 200,
    body: '{"created":1,"replayed":0,"failed":1,"errors":[{"line":1,"error":41300,"message":"\\"name\\" is over 65536 bytes"}]}',
    stored: { none: 3022n },
  },
  {
    name: 'an import as application/json',
    send: load('[]', { 'content-type': 'application/json' }),
    status: 415,
    error: 41500,
    headers: { accept: 'text/plain, text/csv, application/x-ndjson' },
  },
  {
    name: 'a compressed import',
    send: load('x', { ...ndjson, 'content-encoding': 'gzip' }),
    status: 415,
    error: 41500,
    headers: { 'accept-encoding': 'identity' },
  },
  { name: 'an import without credentials', send: load('x'), authorization: null, status: 401, error: 40101 },
  {
    name: 'an export',
    send: { path: '/plants/export' },
    status: 200,
    headers: { 'content-type': 'application/x-ndjson; charset=utf-8', etag: /^"\d+"$/, vary: 'accept' },
  },
  {
    name: 'an export as CSV',
    send: { path: '/plants/export', headers: { accept: 'text/html, text/csv;q=0.9, */*;q=0.1' } },
    status: 200,
    headers: { 'content-type': 'text/csv; charset=utf-8' },
  },
  {
    name: 'HEAD of the export',
    send: { method: 'HEAD', path: '/plants/export' },
    status: 200,
    headers: { etag: /^"\d+"$/ },
    without: ['content-length'],
  },
  {
    name: 'an export without credentials',
    send: { path: '/plants/export' },
    authorization: null,
    status: 401,
    error: 40101,
  },
];

const EVENTS: Scenario[] = [
  {
    name: 'the first change',
    send: { path: '/events?limit=1' },
    status: 200,
    body: /^\[{"seq":1,"type":"plant.created","time":"TIME","plant":{"id":1,"name":"Monstera deliciosa","tag":"tropical"},"token":"tok_\w{12}","tokenName":"test"}\]$/,
    headers: { 'cache-control': 'no-store' },
  },
  {
    name: 'a number that this store never issued',
    send: { path: '/events?after=9007199254740991' },
    status: 410,
    error: 41000,
    body: '{"error":41000,"message":"The change log cannot be read after change 9007199254740991. The changes after it were pruned, or this store never issued that number. Take a new export and resume from the number in its ETag."}',
  },
  badParameter('after -1', '/events?after=-1', '"after" must be the number of a change'),
  badParameter('after x', '/events?after=x'),
  badParameter('after above the largest change number', '/events?after=9007199254740992'),
  badParameter('limit 0 of changes', '/events?limit=0'),
  {
    name: 'an invalid Last-Event-ID',
    send: { path: '/events', headers: { accept: 'text/event-stream', 'last-event-id': 'abc' } },
    status: 400,
    error: 40003,
    says: 'Last-Event-ID',
  },
  {
    name: 'the change log without credentials',
    send: { path: '/events' },
    authorization: null,
    status: 401,
    error: 40101,
  },
  { name: 'a path below the change log', send: { path: '/events/1' }, status: 404, error: 40400 },
  {
    name: 'POST to the change log',
    send: { method: 'POST', path: '/events' },
    status: 405,
    error: 40500,
    headers: { allow: 'GET, HEAD' },
  },
  {
    name: 'pruning the change log without the scope admin',
    send: {
      method: 'POST',
      path: '/events/prune',
      headers: { 'content-type': 'application/json' },
      body: '{"olderThan":"90d"}',
    },
    status: 403,
    error: 40301,
    says: 'admin',
  },
];

export const RECORD_SCENARIOS: Record<string, Scenario[]> = {
  'reading a record': READ,
  'changing a record': CHANGE,
  'listing and searching': LIST,
  'paths that are not records': METHODS,
  'import and export': TRANSFER,
  'the change log': EVENTS,
};
