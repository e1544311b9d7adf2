// Checks the clients' observations of one record for linearizability: some order must exist in which each operation
// takes effect between its call and its return. It searches all orders and memoizes visited states (Wing and Gong,
// Lowe).

/** A request and its outcome. `unknown`: the client got no response, so the write may take effect at any later time. */
export type Operation =
  | { kind: 'create'; name: string; outcome: 'created' | 'replayed' | 'conflict' | 'unknown' }
  | { kind: 'put'; name: string; outcome: 'stored' | 'unknown' }
  | { kind: 'delete'; outcome: 'deleted' | 'missing' | 'unknown' }
  | { kind: 'get'; outcome: { name: string } | 'missing' };

/** An operation with the times of its call and return. Times are unique and increasing numbers. */
export type Event = Operation & { calledAt: number; returnedAt: number };

/** The stored name, or undefined if the record does not exist. */
type State = string | undefined;

/** True if the history of one record, which does not exist at first, is linearizable. Accepts at most 30 events. */
export function isLinearizable(events: Event[]): boolean {
  if (events.length > 30) throw new RangeError(`A history of ${events.length} events is too long to search`);
  const all = events.map((event, at) => ({
    bit: 1 << at,
    event,
    returnedAt: event.outcome === 'unknown' ? Number.POSITIVE_INFINITY : event.returnedAt,
  }));
  const must = all.filter(({ event }) => event.outcome !== 'unknown').reduce((bits, { bit }) => bits | bit, 0);
  const tried = new Set<string>();
  return canEnd(0, undefined);

  /**
   * True if the remaining operations have a valid order after those in the bit set `done`, which resulted in `state`.
   */
  function canEnd(done: number, state: State): boolean {
    if ((done & must) === must) return true;
    const key = `${done} ${state}`;
    if (tried.has(key)) return false;
    tried.add(key);
    const left = all.filter(({ bit }) => (done & bit) === 0);
    const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt));
    return left.some(({ bit, event }) => {
      if (event.calledAt > firstReturn) return false; // another operation returned before this one was called
      const after = apply(event, state);
      return after !== 'impossible' && canEnd(done | bit, after.state);
    });
  }
}

/** Returns the state after the operation, or 'impossible' if its outcome contradicts the state. */
function apply(operation: Operation, state: State): { state: State } | 'impossible' {
  switch (operation.kind) {
    case 'create': {
      const truth = state === undefined ? 'created' : state === operation.name ? 'replayed' : 'conflict';
      if (operation.outcome !== 'unknown' && operation.outcome !== truth) return 'impossible';
      return { state: state ?? operation.name };
    }
    case 'put':
      return { state: operation.name };
    case 'delete': {
      const truth = state === undefined ? 'missing' : 'deleted';
      return operation.outcome !== 'unknown' && operation.outcome !== truth ? 'impossible' : { state: undefined };
    }
    case 'get': {
      const seen = operation.outcome === 'missing' ? undefined : operation.outcome.name;
      return seen === state ? { state } : 'impossible';
    }
  }
}
