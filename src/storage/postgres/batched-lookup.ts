// Combines many lookups of one key each into one query. Keys that are requested while queries are in progress share the
// next query.

import { oncePerTurn } from '../../lib/once-per-turn.ts';

const MAX_KEYS = 1000;
const MAX_QUERIES = 2;
const MAX_WAITING = 10_000;

/** Returns a function that looks up one key. `tooMany` creates the error for a lookup when MAX_WAITING are pending. */
export function createBatchedLookup<Key, Value>(
  lookUp: (keys: Key[]) => Promise<Map<Key, Value>>,
  tooMany: () => Error,
): (key: Key) => Promise<Value | undefined> {
  let waiting = new Map<Key, PromiseWithResolvers<Value | undefined>>();
  let count = 0;
  let queries = 0;
  const schedule = oncePerTurn(() => {
    if (waiting.size > 0 && queries < MAX_QUERIES) void runQuery();
  });

  return (key) => {
    if (count >= MAX_WAITING) return Promise.reject(tooMany());
    count++;
    const lookup = waiting.get(key) ?? Promise.withResolvers<Value | undefined>();
    waiting.set(key, lookup);
    schedule();
    return lookup.promise.finally(() => count--);
  };

  async function runQuery(): Promise<void> {
    const entries = [...waiting];
    const batch = entries.slice(0, MAX_KEYS);
    waiting = new Map(entries.slice(MAX_KEYS));
    queries++;
    try {
      const values = await lookUp(batch.map(([key]) => key));
      for (const [key, { resolve }] of batch) resolve(values.get(key));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    }
    queries--;
    schedule();
  }
}
