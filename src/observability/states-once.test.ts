import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceEvent } from './service-events.ts';
import { reportStatesOnce } from './states-once.ts';

test('A state of several threads begins and ends with the first report, and other events pass', () => {
  const seen: ServiceEvent['kind'][] = [];
  const observe = reportStatesOnce(({ kind }) => seen.push(kind));
  observe({ kind: 'keys_failing', reason: 'of one thread' });
  observe({ kind: 'keys_failing', reason: 'of another' });
  observe({ kind: 'keys_recovered' });
  observe({ kind: 'stopped' });
  observe({ kind: 'keys_recovered' });
  assert.deepEqual(seen, ['keys_failing', 'keys_recovered', 'stopped']);
});

test('A later outage is reported although one thread has not reported the end of the first', () => {
  const seen: ServiceEvent['kind'][] = [];
  const observe = reportStatesOnce(({ kind }) => seen.push(kind));
  observe({ kind: 'writes_failing', reason: 'of one thread' });
  observe({ kind: 'writes_failing', reason: 'of another' });
  observe({ kind: 'writes_recovered' });
  observe({ kind: 'writes_failing', reason: 'again' });
  assert.deepEqual(seen, ['writes_failing', 'writes_recovered', 'writes_failing']);
});
