// Reads pages and the newest number of the change log, and prunes it.

import {
  type Change,
  type ChangePage,
  type ChangePageQuery,
  type ChangeQuery,
  changesPruned,
  type HistoryQuery,
} from '../../domain/change.ts';
import { readHistoryCursor, toHistoryCursor } from '../../domain/list-cursor.ts';
import type { ChangeOrder } from '../../domain/names.ts';
import { cutToChars, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { createChangePage, SCANNED_AT_ONCE } from '../change-page.ts';
import { type ChangeRange, isEmpty, selectTimeRange, timeRangeValues } from '../change-times.ts';
import { type ChangeRow, toChange } from '../row-mapping.ts';
import { PRUNED_AT_ONCE } from '../write-limits.ts';
import { noPlant, toError } from '../write-rules.ts';
import { bounded } from './plants-read.ts';
import type { Tables } from './qualified-names.ts';
import type { StoreQueries } from './store-queries.ts';
import type { Query, Transactions } from './transaction.ts';

/** Returns the SQL that selects the last assigned change number as `seq`. */
export function lastSeq(tables: Tables): string {
  return `
    SELECT greatest(
      pruned_to,
      (SELECT max(seq) FROM ${tables.changes}),
      (SELECT max(last) FROM ${tables.skipped})
    ) AS seq FROM ${tables.numbering}`;
}

/** Returns a condition that is true if changes after number $1 are gone, or if this store never assigned the number. */
function isGoneAfter(tables: Tables): string {
  return `($1 < pruned_to OR $1 > (${lastSeq(tables)})
    OR EXISTS (SELECT FROM ${tables.skipped} WHERE $1 >= first AND $1 < last))`;
}

export async function readChanges(
  { read, names: { tables } }: Transactions,
  { after, limit = DEFAULT_LIMIT, maxChars = PAGE_CHARS }: ChangeQuery,
): Promise<Change[]> {
  const gone = { text: `SELECT ${isGoneAfter(tables)} AS gone FROM ${tables.numbering}`, values: [after ?? 0] };
  const text = `SELECT * FROM ${tables.changes} WHERE seq > $1 ORDER BY seq LIMIT $2`;
  const [[isGone], rows] = await read<[{ gone: boolean }, ChangeRow]>(gone, bounded(text, 'seq', [after ?? 0, limit]));
  if (after !== undefined && isGone?.gone) throw changesPruned(after);
  return cutToChars(rows, maxChars).map(toChange);
}

/** Returns a filtered page of the change log. */
export async function readChangePage(
  { readStepwise, names: { tables } }: Transactions,
  query: ChangePageQuery,
): Promise<ChangePage<number>> {
  const { limit = DEFAULT_LIMIT, order = 'asc' } = query;
  const page = await readStepwise(async (read) => {
    const { after, before } = await rangeOf(read, tables, query);
    const [last, following] = await read<{ seq: bigint }>({
      text: `${selectRange(tables, order)} OFFSET ${SCANNED_AT_ONCE - 1} LIMIT 2`,
      values: [after, before],
    });
    const text = `
      SELECT c.*, t.name AS token_name FROM (
        SELECT seq FROM (${selectRange(tables, order)} LIMIT ${SCANNED_AT_ONCE}) AS scanned
        WHERE ($3::text IS NULL OR type = $3) AND ($4::text IS NULL OR token_id = $4)
          AND time >= coalesce($5::bigint, time) AND time <= coalesce($6::bigint, time)
        ORDER BY seq ${order} LIMIT $7
      ) AS wanted JOIN ${tables.changes} c ON c.seq = wanted.seq LEFT JOIN ${tables.tokens} t ON t.id = c.token_id`;
    const { type = null, token = null, sinceMs = null, untilMs = null } = query;
    const knownToken = token?.includes('\0') ? '' : token; // PostgreSQL refuses U+0000, which no id contains
    const values = [after, before, type, knownToken, sinceMs, untilMs, limit + 1];
    const rows = await read<LoggedRow>(bounded(text, order === 'desc' ? 'seq DESC' : 'seq', values));
    const { changes, add } = createChangePage(limit, namesIn(rows));
    if (rows.some((row) => !add(row))) return { changes, next: changes.at(-1)?.seq };
    return following ? { changes, next: Number(last?.seq) } : { changes };
  });
  return page;
}

/** Selects the changes after number $1 and before number $2. A page scans the first of them. */
function selectRange({ changes }: Tables, order: ChangeOrder): string {
  return `SELECT seq, type, time, token_id FROM ${changes} WHERE seq > $1 AND seq < $2 ORDER BY seq ${order}`;
}

async function rangeOf(read: Query, tables: Tables, query: ChangePageQuery): Promise<ChangeRange> {
  const { after = 0, before } = query;
  const [known] = await read<{ gone: boolean; seq: bigint }>({
    text: `SELECT last.seq, ${isGoneAfter(tables)} AS gone FROM ${tables.numbering}, (${lastSeq(tables)}) AS last`,
    values: [after],
  });
  if (query.after !== undefined && known?.gone) throw changesPruned(after);
  const all = { after, before: before ?? Number(known?.seq) + 1 };
  if ((query.sinceMs === undefined && query.untilMs === undefined) || isEmpty(all)) return all;
  const [range] = await read<ChangeRange>({ text: selectTimeRange('$', tables), values: timeRangeValues(query, all) });
  return range as ChangeRange;
}

type LoggedRow = ChangeRow & { token_name: string | null };

function namesIn(rows: LoggedRow[]): (tokenId: string) => string | null {
  const names = new Map(rows.map(({ token_id, token_name }) => [token_id, token_name]));
  return (tokenId) => names.get(tokenId) ?? null;
}

/** Reads the history of a plant: it follows the numbers of replaced versions from its newest change. */
export async function readHistory(
  { read, names: { tables } }: Transactions,
  plantId: bigint,
  { limit = DEFAULT_LIMIT, cursor }: HistoryQuery,
): Promise<ChangePage<string>> {
  const from = cursor === undefined ? null : readHistoryCursor(cursor, plantId);
  const text = `
    WITH RECURSIVE history (place, seq, previous) AS (
      SELECT 1, c.seq, c.previous FROM ${tables.changes} c
      WHERE c.plant_id = $1 AND c.seq = coalesce($2::bigint, (SELECT seq FROM ${tables.plants} WHERE id = $1))
      UNION ALL
      SELECT h.place + 1, c.seq, c.previous FROM history h JOIN ${tables.changes} c ON c.seq = h.previous
      WHERE h.place <= $3
    )
    SELECT c.*, history.place, t.name AS token_name FROM history
    JOIN ${tables.changes} c ON c.seq = history.seq LEFT JOIN ${tables.tokens} t ON t.id = c.token_id`;
  const [[plant], rows] = await read<[{ id: bigint }, LoggedRow]>(
    { text: `SELECT id FROM ${tables.plants} WHERE id = $1`, values: [plantId] },
    bounded(text, 'place', [plantId, from, limit]),
  );
  if (!plant) throw toError(noPlant(plantId));
  const { changes, add } = createChangePage(limit, namesIn(rows));
  const more = rows.find((row) => !add(row));
  return more ? { changes, next: toHistoryCursor(plantId, Number(more.seq)) } : { changes };
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
const pruneText = ({ changes, change_times, deliveries, numbering, webhooks }: Tables) => `
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
  forgotten_times AS (DELETE FROM ${change_times} WHERE last <= (SELECT max(seq) FROM old)),
  pruned AS (DELETE FROM ${changes} WHERE seq <= (SELECT max(seq) FROM old) RETURNING seq),
  noted AS (
    UPDATE ${numbering} SET
      pruned_to = (SELECT max(seq) FROM old),
      plant_count = coalesce(
        (SELECT c.plant_count FROM ${changes} c WHERE c.seq = (SELECT max(seq) FROM old)), numbering.plant_count
      )
    WHERE pruned_to < (SELECT max(seq) FROM old) -- another node may have pruned later changes meanwhile
  )
  SELECT count(*) AS pruned FROM pruned`;
