import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlantStoreError, unavailable } from '../domain/errors.ts';
import { createBugReport, isUnavailable } from './bug-report.ts';
import type { ServiceEvent } from './service-events.ts';

test('The same bug is reported once, up to ten different ones are, and all again after a minute', (t) => {
  const events: ServiceEvent[] = [];
  const report = createBugReport((event) => events.push(event));
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  for (let n = 0; n < 1000; n++) report(new TypeError('x is undefined'));
  assert.equal(events.length, 1);
  for (let n = 0; n < 1000; n++) report(new Error(`change ${n}`));
  assert.equal(events.length, 10);
  nowMs = 60_000;
  report(new TypeError('x is undefined'));
  assert.equal(events.length, 11);
  assert.equal(events.at(-1)?.kind, 'bug');
});

test('isUnavailable() is true only if the database is unreachable', () => {
  assert.ok(isUnavailable(unavailable('later')));
  assert.ok(!isUnavailable(new PlantStoreError('not_found', 'x')));
  assert.ok(!isUnavailable(new TypeError('unavailable')));
});
