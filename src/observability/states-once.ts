// Reports a state once that several threads report, such as that the keys of the identity provider cannot be fetched.

import type { Observe, ServiceEvent } from './service-events.ts';

/** The state that an event reports, and whether it begins. */
const STATES: Partial<Record<ServiceEvent['kind'], [state: string, begins: boolean]>> = {
  keys_failing: ['keys', true],
  keys_recovered: ['keys', false],
  traces_failing: ['traces', true],
  traces_recovered: ['traces', false],
};

/**
 * Returns a function that creates the observer of one thread. It passes on all events, but the beginning of a state only
 * from the first thread, and its end only from the last.
 */
export function reportStatesOnce(observe: Observe): () => Observe {
  const threads = new Map<string, number>();

  return () => {
    const own = new Set<string>();
    return (event) => {
      const change = STATES[event.kind];
      if (!change || isSeenByAll(own, ...change)) observe(event);
    };
  };

  /** Notes a change of one thread. True if it is the first thread in the state, or no thread is any more. */
  function isSeenByAll(own: Set<string>, state: string, begins: boolean): boolean {
    if (own.has(state) === begins) return false;
    if (begins) own.add(state);
    else own.delete(state);
    const before = threads.get(state) ?? 0;
    const now = before + (begins ? 1 : -1);
    threads.set(state, now);
    return before === 0 || now === 0;
  }
}
