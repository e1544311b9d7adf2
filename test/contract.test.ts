// Sends the rows of scenarios.ts, record-scenarios.ts and list-scenarios.ts to the service over a real socket and compares each response with
// /openapi.json. A second service, on PostgreSQL, receives the same requests and must return the same bytes.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type CheckAnswer, createCheck } from '../testing/description.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../testing/postgres.ts';
import { type Answer, send } from '../testing/request.ts';
import { query } from '../testing/server.ts';
import { startTestService, type TestService } from '../testing/service.ts';
import { LIST_SCENARIOS } from './list-scenarios.ts';
import { RECORD_SCENARIOS } from './record-scenarios.ts';
import { SCENARIOS, type Scenario, toRequest } from './scenarios.ts';

const TIMES = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;
/** Headers that differ from one response to the next. */
const OWN_HEADERS = ['date', 'x-request-id'];

let server: TestService;
let onPostgres: TestService | undefined;
let check: CheckAnswer;

before(async () => {
  server = await startTestService();
  if (!needsPostgres.skip) onPostgres = await startTestService({ databaseUrl: await makeDatabase() });
  check = await createCheck(server.port);
});
after(() => Promise.all([server.stop(), onPostgres?.stop()]));

test('a second service runs on PostgreSQL to compare the responses', needsPostgres, () => assert.ok(onPostgres));

for (const [title, table] of Object.entries({ ...SCENARIOS, ...RECORD_SCENARIOS, ...LIST_SCENARIOS })) {
  suite(title, () => {
    for (const scenario of table) test(scenario.name, () => play(scenario));
  });
}

async function play(scenario: Scenario): Promise<void> {
  const { send: _sent, ...expected } = scenario;
  const before = counts();
  const request = toRequest(scenario, server.secret);
  const answer = await send(server.port, request);

  assert.equal(answer.status, expected.status, answer.body.slice(0, 200));
  check(request.method ?? 'GET', request.path, answer);
  const body = answer.body.replace(TIMES, '"TIME"');
  if (expected.body instanceof RegExp) assert.match(body, expected.body);
  else if (expected.body !== undefined) assert.equal(body, expected.body);
  if (expected.error !== undefined) {
    const error = JSON.parse(answer.body);
    assert.deepEqual(Object.keys(error), ['error', 'message']);
    assert.equal(error.error, expected.error);
    if (expected.says instanceof RegExp) assert.match(error.message, expected.says);
    else assert.ok(error.message.includes(expected.says ?? ''), error.message);
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.deepEqual(counts(), before, 'a rejected request changed the store');
    assert.doesNotMatch(answer.body, /pst_|SELECT|INSERT|\.ts:/);
  }
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (value instanceof RegExp) assert.match(String(answer.headers[name]), value);
    else assert.equal(answer.headers[name], value);
  }
  for (const name of expected.without ?? []) assert.equal(answer.headers[name], undefined);
  if (expected.stored) checkStored(expected.stored);
  if (onPostgres) await playOnPostgres(onPostgres, scenario, answer);
}

async function playOnPostgres(other: TestService, scenario: Scenario, answer: Answer): Promise<void> {
  assert.deepEqual(
    comparable(await send(other.port, toRequest(scenario, other.secret)), other),
    comparable(answer, server),
  );
  if (!scenario.stored) return;
  const id = 'none' in scenario.stored ? scenario.stored.none : scenario.stored.id;
  assert.deepEqual(
    await queryPostgres(other.databaseUrl, 'SELECT id, name, tag FROM plants WHERE id = $1', id),
    query(server.databasePath, 'SELECT id, name, tag FROM plants WHERE id = ?', id),
  );
}

function comparable({ status, headers, body }: Answer, { tokenId, url }: TestService): unknown {
  const kept = Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name));
  const same = body.replace(TIMES, '"TIME"').replaceAll(tokenId, 'tok_TEST').replaceAll(url, 'http://TEST');
  return { status, headers: kept, body: same };
}

function checkStored(stored: NonNullable<Scenario['stored']>): void {
  const id = 'none' in stored ? stored.none : stored.id;
  const rows = query(server.databasePath, 'SELECT id, name, tag FROM plants WHERE id = ?', id);
  assert.deepEqual(rows, 'none' in stored ? [] : [stored]);
}

function counts(): unknown {
  return query(
    server.databasePath,
    'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes',
  );
}
