// Reports a state once that several threads report, such as that writes fail.

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

/** Returns an observer that passes on all events, but those of a state only if they change it. */
export function reportStatesOnce(observe: Observe): Observe {
  const current = new Set<string>();
  return (event) => {
    const [state, begins] = STATES[event.kind] ?? [];
    if (state !== undefined) {
      if (current.has(state) === begins) return;
      if (begins) current.add(state);
      else current.delete(state);
    }
    observe(event);
  };
}
