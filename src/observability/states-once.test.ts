import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceEvent } from './service-events.ts';
import { reportStatesOnce } from './states-once.ts';

test('A state of several threads begins with the first and ends with the last, and other events pass', () => {
  const seen: ServiceEvent['kind'][] = [];
  const createObserver = reportStatesOnce(({ kind }) => seen.push(kind));
  const [one, other] = [createObserver(), createObserver()];
  one({ kind: 'keys_failing', reason: 'no answer' });
  other({ kind: 'keys_failing', reason: 'no answer' });
  one({ kind: 'keys_recovered' });
  one({ kind: 'stopped' });
  one({ kind: 'keys_recovered' });
  assert.deepEqual(seen, ['keys_failing', 'stopped']);
  other({ kind: 'keys_recovered' });
  one({ kind: 'keys_failing', reason: 'again' });
  assert.deepEqual(seen, ['keys_failing', 'stopped', 'keys_recovered', 'keys_failing']);
});
