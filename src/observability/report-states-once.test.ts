import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportStatesOnce, WRITES_RECOVER_MS } from './report-states-once.ts';
import type { ServiceEvent } from './service-events.ts';

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
  observe({ kind: 'traces_failing', reason: 'of one thread' });
  observe({ kind: 'traces_failing', reason: 'of another' });
  observe({ kind: 'traces_recovered' });
  observe({ kind: 'traces_failing', reason: 'again' });
  assert.deepEqual(seen, ['traces_failing', 'traces_recovered', 'traces_failing']);
});

test('The last report matches the state, whichever thread sent it and in which order the events arrive', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const failing = (order: number) => ({ kind: 'writes_failing' as const, reason: 'of one thread', order });
  const recovered = (order: number) => ({ kind: 'writes_recovered' as const, order });
  const reports = (...events: ServiceEvent[]) => {
    const seen: ServiceEvent['kind'][] = [];
    const observe = reportStatesOnce(({ kind }) => seen.push(kind));
    for (const event of events) {
      observe(event);
      t.mock.timers.tick(WRITES_RECOVER_MS);
    }
    return seen;
  };
  const [both, again] = [['writes_failing', 'writes_recovered'], 'writes_failing'];
  assert.deepEqual(reports(failing(1), recovered(2), failing(3)), [...both, again]);
  assert.deepEqual(reports(failing(1), failing(3), recovered(2)), ['writes_failing']);
  assert.deepEqual(reports(recovered(2), failing(1)), []);
  assert.deepEqual(reports(failing(1), recovered(4), failing(3), recovered(2)), both);
});

test('Writes that fail now and then are reported once, until none has failed for some time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const seen: ServiceEvent['kind'][] = [];
  const observe = reportStatesOnce(({ kind }) => seen.push(kind));
  for (let n = 0; n < 200; n++) {
    observe({ kind: 'writes_failing', reason: 'database or disk is full' });
    observe({ kind: 'writes_recovered' });
    t.mock.timers.tick(WRITES_RECOVER_MS - 1);
  }
  assert.deepEqual(seen, ['writes_failing']);
  t.mock.timers.tick(1);
  assert.deepEqual(seen, ['writes_failing', 'writes_recovered']);
  observe({ kind: 'writes_failing', reason: 'again' });
  assert.deepEqual(seen, ['writes_failing', 'writes_recovered', 'writes_failing']);
});
