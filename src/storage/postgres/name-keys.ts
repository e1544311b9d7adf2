// The folded names by which PostgreSQL sorts. Nodes of the version before do not fold names, so a name that they wrote
// during an upgrade, or before it, gets its key later.

import { unavailable } from '../../domain/errors.ts';
import { isAscii, MAX_KEY_CHARS, nameKey } from '../../domain/name-search.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { createPace } from '../../lib/event-loop-turns.ts';
import { toArray } from './pg-array.ts';
import type { StoreQueries } from './store-queries.ts';

/** The expression of the index plants_by_name. It is the result of `nameKey` for every name. */
export const NAME_KEY = `left(coalesce(sort_name, lower(name)), ${MAX_KEY_CHARS})`;

/** Number of names that one transaction completes. */
const NAMES_AT_ONCE = 500;
/** Maximum time that a list waits. */
const MAX_WAIT_MS = 5000;
const WITHOUT_KEY = 'sort_name IS NULL AND octet_length(name) <> length(name)';

/** Returns the value of the column sort_name. PostgreSQL itself folds a name of ASCII letters. */
export function sortNameOf(name: string): string | null {
  return isAscii(name) ? null : nameKey(name);
}

/** Returns a function that adds all missing keys. It throws `unavailable` if that takes too long. */
export function createNameKeys({ names: { tables }, select, commit }: StoreQueries): () => Promise<void> {
  let completing: Promise<void> | undefined;
  return () => {
    if (!completing) {
      completing = complete().finally(() => {
        completing = undefined;
      });
      completing.catch(() => {}); // a caller that no longer waits does not report the error
    }
    return withDeadline(completing, MAX_WAIT_MS, () => {
      throw unavailable('The order by name is being updated after an upgrade. Retry in a minute.');
    });
  };

  async function complete(): Promise<void> {
    for (;;) {
      const rows = await select<{ id: bigint; seq: bigint; name: string }>({
        text: `SELECT id, seq, name FROM ${tables.plants} WHERE ${WITHOUT_KEY} ORDER BY id LIMIT ${NAMES_AT_ONCE}`,
      });
      if (rows.length === 0) return;
      await addKeys(rows);
    }
  }

  async function addKeys(rows: { id: bigint; seq: bigint; name: string }[]): Promise<void> {
    const keys: string[] = [];
    const pace = createPace();
    for (const { name } of rows) {
      await pace();
      keys.push(nameKey(name));
    }
    await commit({
      text: `
        UPDATE ${tables.plants} p SET sort_name = sent.sort_name
        FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS sent (id, seq, sort_name)
        WHERE p.id = sent.id AND p.seq = sent.seq AND p.sort_name IS NULL`,
      values: [toArray(rows.map(({ id }) => id)), toArray(rows.map(({ seq }) => seq)), toArray(keys)],
    });
  }
}
