// Reads pages and the newest number of the change log, and prunes it.

import { type Change, type ChangeQuery, changesPruned } from '../../domain/change.ts';
import { cutToChars, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { type ChangeRow, toChange } from '../row-mapping.ts';
import { PRUNED_AT_ONCE } from '../write-limits.ts';
import { bounded } from './plants-read.ts';
import type { Tables } from './qualified-names.ts';
import type { StoreQueries } from './store-queries.ts';
import type { Transactions } from './transaction.ts';

/** Returns the SQL that selects the last assigned change number as `seq`. */
export function lastSeq(tables: Tables): string {
  return `
    SELECT greatest(
      pruned_to,
      (SELECT max(seq) FROM ${tables.changes}),
      (SELECT max(last) FROM ${tables.skipped})
    ) AS seq FROM ${tables.numbering}`;
}

export async function readChanges(
  { read, names: { tables } }: Transactions,
  { after, limit = DEFAULT_LIMIT, maxChars = PAGE_CHARS }: ChangeQuery,
): Promise<Change[]> {
  const gone = {
    text: `
      SELECT $1 < pruned_to OR $1 > (${lastSeq(tables)})
        OR EXISTS (SELECT FROM ${tables.skipped} WHERE $1 >= first AND $1 < last) AS gone FROM ${tables.numbering}`,
    values: [after ?? 0],
  };
  const text = `SELECT * FROM ${tables.changes} WHERE seq > $1 ORDER BY seq LIMIT $2`;
  const [[isGone], rows] = await read<[{ gone: boolean }, ChangeRow]>(gone, bounded(text, 'seq', [after ?? 0, limit]));
  if (after !== undefined && isGone?.gone) throw changesPruned(after);
  await nextEventLoopTurn(); // the caller serializes the page in the same turn
  return cutToChars(rows, maxChars).map(toChange);
}

/** True if a change after this number exists. Throws `changes_pruned` if changes after it are gone. */
export async function hasChangesAfter({ names, read, select }: StoreQueries, seq: number): Promise<boolean> {
  const [row] = await select<{ seq: bigint }>({ text: lastSeq(names.tables) });
  if (seq >= Number(row?.seq)) return false; // includes higher numbers, for which readChanges() throws
  return (await read((transactions) => readChanges(transactions, { after: seq, limit: 1 }))).length > 0;
}

/** Prunes changes older than `beforeMs` and returns their number. */
export async function pruneChanges({ names, commit }: StoreQueries, beforeMs: number): Promise<number> {
  const text = pruneText(names.tables);
  for (let total = 0; ; ) {
    const [row] = await commit<{ pruned: bigint }>({ text, values: [beforeMs] });
    const pruned = Number(row?.pruned);
    total += pruned;
    if (pruned < PRUNED_AT_ONCE) return total;
  }
}

/** Prunes the oldest changes. Stops at the first that is not old enough or that a webhook still has to receive. */
const pruneText = ({ changes, deliveries, numbering, webhooks }: Tables) => `
  WITH oldest AS (SELECT seq, time FROM ${changes} ORDER BY seq LIMIT ${PRUNED_AT_ONCE}),
  kept AS (SELECT min(seq) AS seq FROM oldest WHERE time >= $1),
  held AS (
    SELECT min(least(w.position, (
      SELECT min(d.seq) - 1 FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.status = 'waiting'
    ))) AS seq FROM ${webhooks} w WHERE w.disabled IS NULL
  ),
  old AS (
    SELECT seq FROM oldest
    WHERE seq < coalesce((SELECT seq FROM kept), 9223372036854775807)
      AND seq <= coalesce((SELECT seq FROM held), 9223372036854775807)
  ),
  forgotten AS (
    -- webhook_id IN makes PostgreSQL read each webhook's part of the index on (webhook_id, seq), not the whole table.
    DELETE FROM ${deliveries} WHERE webhook_id IN (SELECT id FROM ${webhooks}) AND seq <= (SELECT max(seq) FROM old)
  ),
  pruned AS (DELETE FROM ${changes} WHERE seq <= (SELECT max(seq) FROM old) RETURNING seq),
  noted AS (UPDATE ${numbering} SET pruned_to = greatest(pruned_to, (SELECT max(seq) FROM old)))
  SELECT count(*) AS pruned FROM pruned`;
