// Reports when a state begins and when it ends, such as that the keys of the identity provider cannot be fetched. Several
// threads report it, and each attempt does.

import type { Observe, ServiceEvent } from './service-events.ts';

/** The state that an event reports, and whether it begins. */
const STATES: Partial<Record<ServiceEvent['kind'], [state: string, begins: boolean]>> = {
  keys_failing: ['keys', true],
  keys_recovered: ['keys', false],
  traces_failing: ['traces', true],
  traces_recovered: ['traces', false],
  writes_failing: ['writes', true],
  writes_recovered: ['writes', false],
};

/** Time without failing writes after which they have recovered. On a nearly full disk, only some of the writes fail. */
export const WRITES_RECOVER_MS = 10_000;

/**
 * Returns an observer for all threads. A state begins with the first thread that reports it, and ends with the first
 * that reports its end: a thread without requests would not notice it. The end of failing writes is reported later, unless
 * writes fail again before. If an event arrives after one with a higher `order`, which another thread has sent, it is
 * ignored. Other events pass.
 */
export function reportStatesOnce(observe: Observe): Observe {
  const inProgress = new Set<string>();
  const newest = new Map<string, number>();
  let recovering: NodeJS.Timeout | undefined;

  return (event) => {
    const [state, begins] = STATES[event.kind] ?? [];
    if (state !== undefined) {
      if ('order' in event && event.order !== undefined) {
        if (event.order < (newest.get(state) ?? 0)) return;
        newest.set(state, event.order);
      }
      if (state === 'writes') clearTimeout(recovering);
      if (inProgress.has(state) === begins) return;
      if (event.kind === 'writes_recovered') {
        recovering = setTimeout(end, WRITES_RECOVER_MS, state, event).unref();
        return;
      }
      if (!begins) return end(state, event);
      inProgress.add(state);
    }
    observe(event);
  };

  function end(state: string, event: ServiceEvent): void {
    inProgress.delete(state);
    observe(event);
  }
}
