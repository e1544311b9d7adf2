import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlantStoreError, unavailable } from '../domain/errors.ts';
import { createBugReport, isUnavailable } from './bug-report.ts';
import type { Fact } from './service-events.ts';

test('the same bug is reported once, different ones up to ten, and all again a minute later', (t) => {
  const facts: Fact[] = [];
  const report = createBugReport((fact) => facts.push(fact));
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  for (let n = 0; n < 1000; n++) report(new TypeError('x is undefined'));
  assert.equal(facts.length, 1);
  for (let n = 0; n < 1000; n++) report(new Error(`change ${n}`));
  assert.equal(facts.length, 10);
  nowMs = 60_000;
  report(new TypeError('x is undefined'));
  assert.equal(facts.length, 11);
  assert.equal(facts.at(-1)?.kind, 'bug');
});

test('only a database that is out of reach is no bug', () => {
  assert.ok(isUnavailable(unavailable('later')));
  assert.ok(!isUnavailable(new PlantStoreError('not_found', 'x')));
  assert.ok(!isUnavailable(new TypeError('unavailable')));
});
