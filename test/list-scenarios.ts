// The API as a table, continued: lists in any order, counts, histories, filtered pages of the change log, and dry runs.

import { toHistoryCursor } from '../src/domain/list-cursor.ts';
import { badParameter, record } from './record-scenarios.ts';
import { create, type Scenario } from './scenarios.ts';

const CURSOR = 'AAAAAAAAAAAAAAAAAAAAAA';
const LINK_BY_NAME = /^<\/plants\?limit=2&sort=name&tag=sorted&cursor=[\w-]+>; rel="next"$/;

function list(
  name: string,
  query: string,
  ids: [id: number, name: string, tag?: string][],
  more: Partial<Scenario> = {},
): Scenario {
  const body = `[${ids.map(([id, plant, tag]) => record(id, plant, tag)).join()}]`;
  return { name, send: { path: `/plants?${query}` }, status: 200, body, ...more };
}

const A: [number, string, string] = [7001, 'Écorce', 'sorted'];
const B: [number, string, string] = [7002, 'acer', 'sorted'];
const C: [number, string, string] = [7003, 'Zinnia', 'sorted'];
const D: [number, string, string] = [7004, 'ACER', 'sorted too'];

const LISTS: Scenario[] = [
  ...[A, B, C, D].map(([id, name, tag]) => ({
    name: `plant ${id} is created for the following requests`,
    send: create(JSON.stringify({ id, name, tag })),
    status: 200,
  })),
  { name: 'a plant without a tag', send: create('{"id":7005,"name":"untagged quux"}'), status: 200 },
  list('sort by id', 'tag=sorted&sort=id', [A, B, C]),
  list('sort by descending id', 'tag=sorted&sort=-id', [C, B, A]),
  list('sort by name, whatever its case and accents', 'tag=sorted&sort=name', [B, A, C]),
  list('sort by descending name', 'tag=sorted&sort=-name', [C, A, B]),
  list('sort by updated', 'tag=sorted&sort=updated', [A, B, C]),
  list('sort by descending updated', 'tag=sorted&sort=-updated', [C, B, A]),
  list('plants with the same name are sorted by id', 'tag=sorted&tag=sorted%20too&sort=name', [B, D, A, C]),
  list('the same names in descending order', 'tag=sorted&tag=sorted%20too&sort=-name', [C, A, D, B]),
  list('a page by name has a link', 'tag=sorted&sort=name&limit=2', [B, A], { headers: { link: LINK_BY_NAME } }),
  list('an offset', 'tag=sorted&offset=1', [B, C], { without: ['link'] }),
  list('an offset of 0', 'tag=sorted&offset=0', [A, B, C]),
  list('an offset with a sort', 'tag=sorted&sort=-name&offset=1', [A, B]),
  list('an offset with several tags', 'tag=sorted&tag=sorted%20too&offset=2', [C, D]),
  list('an offset with a search', 'tag=sorted&q=a&offset=0001', [], { without: ['link'] }),
  list('an offset at the end', 'tag=sorted&offset=3', [], { without: ['link'] }),
  list('the largest offset', 'offset=9007199254740991', [], { without: ['link'] }),
  list('a page behind an offset has a link without it', 'tag=sorted&sort=name&offset=1&limit=1&count=true', [A], {
    headers: {
      link: /^<\/plants\?limit=1&sort=name&tag=sorted&count=true&cursor=[\w-]+>; rel="next"$/,
      'total-count': '3',
    },
  }),
  ...['id', '-id', 'name', '-name', 'updated', '-updated'].map((sort) => ({
    name: `all plants behind an offset, sorted by ${sort}`,
    send: { path: `/plants?sort=${sort}&offset=4&limit=1000` },
    status: 200,
  })),
  ...['-1', '1.5', '', 'x', '1e3', '9007199254740992', '%2B1'].map((offset) =>
    badParameter(
      `the malformed offset ${JSON.stringify(offset)}`,
      `/plants?offset=${offset}`,
      '"offset" must be an integer between 0 and 9007199254740991',
    ),
  ),
  badParameter('an offset twice', '/plants?offset=1&offset=2', '"offset" must not be repeated'),
  badParameter(
    'an offset and a cursor',
    `/plants?offset=0&cursor=${CURSOR}`,
    '"offset" and "cursor" exclude each other',
  ),
  list('a tag twice means the same as once', 'tag=sorted&tag=sorted', [A, B, C]),
  list('tags with brackets, as Axios sends them', 'tag[]=sorted&tag%5B%5D=sorted%20too', [A, B, C, D]),
  list('an unknown tag besides', 'tag=sorted&tag=nothing&limit=1', [A]),
  list('untagged plants', 'untagged=true&q=quux', [[7005, 'untagged quux']]),
  list('untagged plants or a tag', 'untagged=true&tag=sorted&q=quux&sort=-id', [[7005, 'untagged quux']]),
  list('untagged=false changes nothing', 'untagged=false&tag=sorted', [A, B, C]),
  list('a count with a filter', 'tag=sorted&limit=1&count=true', [A], { headers: { 'total-count': '3' } }),
  list('a count with a sort', 'tag=sorted&count=true&sort=-name', [C, A, B], { headers: { 'total-count': '3' } }),
  list('a count of nothing', 'tag=nothing&count=true', [], { headers: { 'total-count': '0' } }),
  list('count=false', 'tag=nothing&count=false', [], { without: ['total-count'] }),
  list('a search of punctuation finds nothing', 'q=%26-&count=true', [], { headers: { 'total-count': '0' } }),
  {
    name: 'a count of all plants',
    send: { path: '/plants?limit=1&count=true' },
    status: 200,
    headers: { 'total-count': /^\d+$/, link: /count=true/ },
  },
  { name: 'all plants by name', send: { path: '/plants?sort=name&limit=1000' }, status: 200 },
  { name: 'all plants by descending name', send: { path: '/plants?sort=-name&limit=1000' }, status: 200 },
  { name: 'all plants by descending id', send: { path: '/plants?sort=-id&limit=1000' }, status: 200 },
  badParameter('an unknown sort', '/plants?sort=tag', '"sort" must be one of id, -id, name, -name, updated, -updated'),
  badParameter('a sort in capitals', '/plants?sort=Name', '"sort"'),
  badParameter('an empty sort', '/plants?sort=', '"sort"'),
  badParameter('a sort twice', '/plants?sort=id&sort=name', '"sort" must not be repeated'),
  badParameter('a sort with two minus signs', '/plants?sort=--id', '"sort"'),
  badParameter('a count that is not a boolean', '/plants?count=1', '"count" must be true or false'),
  badParameter('untagged in capitals', '/plants?untagged=TRUE', '"untagged" must be true or false'),
  badParameter('an empty untagged', '/plants?untagged', '"untagged"'),
  badParameter(
    '101 tags',
    `/plants?${Array.from({ length: 101 }, (_, at) => `tag=${at}`).join('&')}`,
    '"tag" must not be repeated more than 100 times',
  ),
  badParameter('a tag that is not UTF-8', '/plants?tag=a&tag=%ff', '"tag" must be percent-encoded UTF-8'),
  ...['id', '-id', 'name', '-name', 'updated', '-updated'].map((sort) =>
    badParameter(
      `a cursor of another list, sorted by ${sort}`,
      `/plants?sort=${sort}&cursor=${CURSOR}`,
      '"cursor" belongs to',
    ),
  ),
  badParameter('a cursor that is too short', '/plants?sort=name&cursor=AAAA', '"cursor" is malformed'),
];

/** Plants whose texts fill a page before its limit. */
const LONG = Array.from({ length: 20 }, (_, at) => ({
  id: 7300 + at,
  name: `${at % 3} ${'é'.repeat(30_000)}`,
  tag: 'long',
}));

const LONG_LISTS: Scenario[] = [
  {
    name: 'plants with long names are imported',
    send: {
      method: 'POST',
      path: '/plants/import',
      headers: { 'content-type': 'application/x-ndjson' },
      body: LONG.map((plant) => JSON.stringify(plant)).join('\n'),
    },
    status: 200,
    body: '{"created":20,"replayed":0,"failed":0,"errors":[]}',
  },
  // Not by time: the two services write at other times, which their cursors contain.
  ...['id', '-id', 'name', '-name'].flatMap((sort) => [
    {
      name: `a page of long names, sorted by ${sort}`,
      send: { path: `/plants?sort=${sort}&tag=long` },
      status: 200,
      headers: { link: /cursor=/ },
    },
    { name: `a page of all names, sorted by ${sort}`, send: { path: `/plants?sort=${sort}&limit=1000` }, status: 200 },
  ]),
  list('a tag that no database can hold', 'tag=%00&count=true', [], { headers: { 'total-count': '0' } }),
];

const HISTORY: Scenario[] = [
  {
    name: 'a plant is changed',
    send: {
      method: 'PATCH',
      path: '/plants/7003',
      headers: { 'content-type': 'application/json' },
      body: '{"tag":null,"name":"Zinnia elegans"}',
    },
    status: 200,
  },
  {
    name: 'its history, newest first',
    send: { path: '/plants/7003/changes' },
    status: 200,
    body: /^\[{"seq":\d+,"type":"plant.updated","time":"TIME","plant":{"id":7003,"name":"Zinnia elegans"},"token":"tok_\w{12}","tokenName":"test"},{"seq":\d+,"type":"plant.created","time":"TIME","plant":{"id":7003,"name":"Zinnia","tag":"sorted"},"token":"tok_\w{12}","tokenName":"test"}\]$/,
    without: ['link'],
  },
  {
    name: 'a page of its history',
    send: { path: '/plants/7003/changes?limit=1' },
    status: 200,
    body: /^\[{"seq":\d+,"type":"plant.updated"[^[]*\]$/,
    headers: { link: /^<\/plants\/7003\/changes\?limit=1&cursor=[\w-]{22}>; rel="next"$/ },
  },
  {
    name: 'a cursor to a change that is gone',
    send: { path: `/plants/7003/changes?cursor=${toHistoryCursor(7003n, 9_000_000)}` },
    status: 200,
    body: '[]',
  },
  {
    name: 'a cursor to a change of another plant',
    send: { path: `/plants/7003/changes?cursor=${toHistoryCursor(7003n, 1)}` },
    status: 200,
    body: '[]',
  },
  badParameter(
    'a cursor of the history of another plant',
    `/plants/7003/changes?cursor=${toHistoryCursor(7002n, 1)}`,
    '"cursor" belongs to another plant',
  ),
  badParameter('a malformed cursor of a history', '/plants/7003/changes?cursor=x', '"cursor" is malformed'),
  badParameter('the cursor of a list', `/plants/7003/changes?cursor=${CURSOR}`, '"cursor" is malformed'),
  badParameter('the history of an id that is not a number', '/plants/abc/changes', 'The id in the path'),
  { name: 'the history of a missing plant', send: { path: '/plants/40404/changes' }, status: 404, error: 40401 },
  { name: 'a plant is deleted', send: { method: 'DELETE', path: '/plants/7002' }, status: 204 },
  { name: 'the history of a deleted plant', send: { path: '/plants/7002/changes' }, status: 404, error: 40401 },
  { name: 'its id is used again', send: create('{"id":7002,"name":"acer"}'), status: 200 },
  {
    name: 'its history starts with the new creation',
    send: { path: '/plants/7002/changes' },
    status: 200,
    body: /^\[{"seq":\d+,"type":"plant.created"[^[]*\]$/,
  },
  {
    name: 'a method that a history does not have',
    send: { method: 'DELETE', path: '/plants/7003/changes' },
    status: 405,
    error: 40500,
    headers: { allow: 'GET, HEAD' },
  },
  {
    name: 'a history without a token',
    send: { path: '/plants/7003/changes' },
    authorization: null,
    status: 401,
    error: 40101,
  },
];

/** Every response, also an error, has the number of the newest change. */
const EVENTS = (
  [
    {
      name: 'the newest change',
      send: { path: '/events?order=desc&limit=1' },
      status: 200,
      body: /^\[{"seq":\d+,"type":"plant.created","time":"TIME","plant":{"id":7002,"name":"acer"}[^[]*\]$/,
      headers: { link: /^<\/events\?limit=1&order=desc&before=\d+>; rel="next"$/ },
    },
    {
      name: 'HEAD tells the newest number',
      send: { method: 'HEAD', path: '/events?limit=1' },
      status: 200,
    },
    {
      name: 'changes of one type',
      send: { path: '/events?type=plant.deleted&order=desc&limit=1' },
      status: 200,
      body: /^\[{"seq":\d+,"type":"plant.deleted","time":"TIME","plant":{"id":7002,[^[]*\]$/,
      headers: { link: /type=plant\.deleted/ },
    },
    {
      name: 'changes of an unknown token',
      send: { path: '/events?token=tok_none' },
      status: 200,
      body: '[]',
      without: ['link'],
    },
    {
      name: 'changes since a time to come',
      send: { path: '/events?since=2999-01-01T00:00:00Z' },
      status: 200,
      body: '[]',
    },
    {
      name: 'changes until a time long ago',
      send: { path: '/events?until=1999-01-01T00:00:00Z' },
      status: 200,
      body: '[]',
    },
    {
      name: 'a time with an offset, whose plus sign is not encoded',
      send: { path: '/events?since=2000-01-01T00:00:00.5+01:00&limit=1' },
      status: 200,
      headers: { link: /since=1999-12-31T23%3A00%3A00\.500Z/ },
    },
    {
      name: 'the first change, with a link to the next',
      send: { path: '/events?limit=1&order=asc' },
      status: 200,
      body: /^\[{"seq":1,[^[]*\]$/,
      headers: { link: '</events?limit=1&order=asc&after=1>; rel="next"' },
    },
    {
      name: 'changes before the first',
      send: { path: '/events?before=1' },
      status: 200,
      body: '[]',
      without: ['link'],
    },
    {
      name: 'changes after a number that was never given',
      send: { path: '/events?after=9000000&order=desc' },
      status: 410,
      error: 41000,
    },
    badParameter('an unknown order', '/events?order=down', '"order" must be one of asc, desc'),
    badParameter('an unknown type', '/events?type=created', '"type" must be one of plant.created'),
    badParameter('a type twice', '/events?type=plant.created&type=plant.deleted', '"type" must not be repeated'),
    ...['yesterday', '2026-11-17', '2026-11-17T12:00:00', '2026-13-01T00:00:00Z', '2026-11-17T25:00:00Z', ''].map(
      (time) => badParameter(`since=${time}`, `/events?since=${time}`, '"since" must be a time in RFC 3339'),
    ),
    badParameter('until in seconds', '/events?until=1794907800', '"until" must be a time in RFC 3339'),
    badParameter('a negative before', '/events?before=-1', '"before"'),
    {
      name: 'a filtered stream',
      send: { path: '/events?type=plant.created', headers: { accept: 'text/event-stream' } },
      status: 400,
      error: 40003,
      says: '"type" must not be set for an event stream',
    },
  ] as Scenario[]
).map((scenario) => ({
  ...scenario,
  headers: { 'last-seq': /^\d+$/, ...scenario.headers },
}));

const csv = { 'content-type': 'text/csv' };
const DRY_RUNS: Scenario[] = [
  {
    name: 'a dry run reports what an import would do',
    send: {
      method: 'POST',
      path: '/plants/import?dryRun=true',
      headers: csv,
      body: 'id,name,tag\n7001,Écorce,sorted\n7001,other,\n7100,new,\n7100,new,\n7100,other,\nx,bad,\n',
    },
    status: 200,
    body: '{"created":1,"replayed":2,"failed":3,"errors":[{"line":3,"error":40009,"message":"Id 7001 belongs to another plant. Use another id."},{"line":6,"error":40009,"message":"Id 7100 belongs to another plant. Use another id."},{"line":7,"error":40002,"message":"\\"id\\" must be an integer"}]}',
    stored: { none: 7100n },
  },
  {
    name: 'a dry run of NDJSON',
    send: {
      method: 'POST',
      path: '/plants/import?dryRun=true',
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"id":7101,"name":"new"}\n',
    },
    status: 200,
    body: '{"created":1,"replayed":0,"failed":0,"errors":[]}',
    stored: { none: 7101n },
  },
  {
    name: 'dryRun=false imports',
    send: { method: 'POST', path: '/plants/import?dryRun=false', headers: csv, body: 'id,name,tag\n7102,new,\n' },
    status: 200,
    body: '{"created":1,"replayed":0,"failed":0,"errors":[]}',
    stored: { id: 7102n, name: 'new', tag: null },
  },
  {
    name: 'a malformed dryRun changes nothing',
    send: { method: 'POST', path: '/plants/import?dryRun=yes', headers: csv, body: 'id,name,tag\n7103,new,\n' },
    status: 400,
    error: 40003,
    says: '"dryRun" must be true or false',
    stored: { none: 7103n },
  },
];

export const LIST_SCENARIOS = {
  'lists in any order': LISTS,
  'lists of long names': LONG_LISTS,
  'the history of a plant': HISTORY,
  'pages of the change log': EVENTS,
  'dry runs of imports': DRY_RUNS,
};
