// Reads the change log and the history of a plant, on a connection that cannot write.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import {
  type Change,
  type ChangePage,
  type ChangePageQuery,
  type ChangeQuery,
  changesPruned,
  type HistoryQuery,
} from '../../domain/change.ts';
import { readHistoryCursor, toHistoryCursor } from '../../domain/list-cursor.ts';
import { cutToChars, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { createChangePage, isWanted, SCANNED_AT_ONCE } from '../change-page.ts';
import { type ChangeRange, isEmpty, selectTimeRange, timeRangeValues } from '../change-times.ts';
import { type ChangeRow, toChange } from '../row-mapping.ts';
import { noPlant, toError } from '../write-rules.ts';
import { prepareIsGone, prepareLastSeq } from './change-numbers.ts';
import { prepareSnapshots } from './snapshots.ts';

type ScannedRow = Pick<ChangeRow, 'seq' | 'type' | 'time' | 'token_id'>;

export function prepareChangeReads(db: DatabaseSync) {
  const listChanges = db.prepare('SELECT * FROM changes WHERE seq > ? ORDER BY seq LIMIT ?');
  const scans = { asc: prepareScan('ASC'), desc: prepareScan('DESC') };
  const findChange = db.prepare('SELECT * FROM changes WHERE seq = ?');
  const findToken = db.prepare('SELECT name FROM tokens WHERE id = ?');
  const findVersion = db.prepare('SELECT seq FROM plants WHERE id = ?');
  for (const statement of [listChanges, findChange]) statement.setReadBigInts(true);
  const isGone = prepareIsGone(db);
  const lastSeq = prepareLastSeq(db);
  const timeRange = db.prepare(selectTimeRange('?'));
  const atOnce = prepareSnapshots(db);

  return {
    lastSeq,

    /** Returns a page of changes, with fewer than `limit` if they are large. */
    changes({ after, limit = DEFAULT_LIMIT, maxChars = PAGE_CHARS }: ChangeQuery): Change[] {
      return atOnce(() => {
        if (after !== undefined && isGone(after)) throw changesPruned(after);
        const rows = listChanges.iterate(after ?? 0, limit) as Iterable<ChangeRow>;
        return cutToChars(rows, maxChars).map(toChange);
      });
    },

    changePage(query: ChangePageQuery): ChangePage<number> {
      const { limit = DEFAULT_LIMIT, order = 'asc' } = query;
      return atOnce(() => {
        if (query.after !== undefined && isGone(query.after)) throw changesPruned(query.after);
        const { after, before } = rangeOf(query);
        const isFiltered = [query.type, query.token, query.sinceMs, query.untilMs].some((value) => value !== undefined);
        const { changes, add } = createChangePage(limit, createNames());
        let scanned = 0;
        let last: number | undefined;
        for (const row of scans[order](isFiltered).iterate(after, before, SCANNED_AT_ONCE + 1)) {
          if (++scanned > SCANNED_AT_ONCE) return { changes, next: last };
          const { seq } = row as ScannedRow;
          if (isWanted(row as ScannedRow, query) && !add((isFiltered ? findChange.get(seq) : row) as ChangeRow)) {
            return { changes, next: changes.at(-1)?.seq };
          }
          last = Number(seq);
        }
        return { changes };
      });
    },

    /** Follows the numbers of replaced versions from the newest change of the plant. */
    history(plantId: bigint, { limit = DEFAULT_LIMIT, cursor }: HistoryQuery): ChangePage<string> {
      const start = cursor === undefined ? undefined : readHistoryCursor(cursor, plantId);
      return atOnce(() => {
        const version = findVersion.get(plantId) as { seq: number } | undefined;
        if (!version) throw toError(noPlant(plantId));
        const { changes, add } = createChangePage(limit, createNames());
        for (let seq: number | bigint | null = start ?? version.seq; seq !== null; ) {
          const row = findChange.get(seq) as ChangeRow | undefined;
          if (row?.plant_id !== plantId) break; // it was pruned
          if (!add(row)) return { changes, next: toHistoryCursor(plantId, Number(seq)) };
          seq = row.previous;
        }
        return { changes };
      });
    },
  };

  /** A filtered scan reads only the columns of the filter: most names are not on the page, and names can be long. */
  function prepareScan(order: 'ASC' | 'DESC') {
    const [all, narrow] = ['*', 'seq, type, time, token_id'].map((columns) => {
      const scan = db.prepare(`SELECT ${columns} FROM changes WHERE seq > ? AND seq < ? ORDER BY seq ${order} LIMIT ?`);
      scan.setReadBigInts(true);
      return scan;
    }) as [StatementSync, StatementSync];
    return (isFiltered: boolean) => (isFiltered ? narrow : all);
  }

  /** Returns a function that finds the name of a token, and remembers it for the rest of the page. */
  function createNames(): (tokenId: string) => string | null {
    const known = new Map<string, string | null>();
    return (tokenId) => {
      let name = known.get(tokenId);
      if (name === undefined) {
        name = (findToken.get(tokenId) as { name: string } | undefined)?.name ?? null;
        known.set(tokenId, name);
      }
      return name;
    };
  }

  function rangeOf(query: ChangePageQuery): ChangeRange {
    const all = { after: query.after ?? 0, before: query.before ?? lastSeq() + 1 };
    if ((query.sinceMs === undefined && query.untilMs === undefined) || isEmpty(all)) return all;
    return timeRange.get(...timeRangeValues(query, all)) as unknown as ChangeRange;
  }
}
