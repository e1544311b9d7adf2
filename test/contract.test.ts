// The tables of scenarios.ts and record-scenarios.ts against the real process over a real socket, each answer held against /openapi.json.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type CheckAnswer, createCheck } from './description.ts';
import { RECORD_SCENARIOS } from './record-scenarios.ts';
import { send } from './request.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { query, startServer, type TestServer } from './server.ts';

const TIMES = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g;

let server: TestServer;
let check: CheckAnswer;

before(async () => {
  server = await startServer();
  check = await createCheck(server.port);
});
after(() => server.stop());

for (const [title, table] of Object.entries({ ...SCENARIOS, ...RECORD_SCENARIOS })) {
  suite(title, () => {
    for (const scenario of table) test(scenario.name, () => play(scenario));
  });
}

async function play({ send: sent, authorization, ...expected }: Scenario): Promise<void> {
  const before = counts();
  const bearer = authorization === undefined ? 'Bearer GOOD' : authorization;
  const headers = { ...sent.headers, ...(bearer !== null && { authorization: bearer.replace('GOOD', server.secret) }) };
  const path = sent.path?.replace('GOOD', server.secret) ?? '/';
  const answer = await send(server.port, { ...sent, path, headers });

  assert.equal(answer.status, expected.status, answer.body.slice(0, 200));
  check(sent.method ?? 'GET', path, answer);
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
    assert.deepEqual(counts(), before, 'a refused request left a trace');
    assert.doesNotMatch(answer.body, /pst_|SELECT|INSERT|\.ts:/);
  }
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    if (value instanceof RegExp) assert.match(String(answer.headers[name]), value);
    else assert.equal(answer.headers[name], value);
  }
  for (const name of expected.without ?? []) assert.equal(answer.headers[name], undefined);
  if (expected.stored) checkStored(expected.stored);
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
