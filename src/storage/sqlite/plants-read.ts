// Implements all reads of plants and changes, on a connection that cannot write.

import type { DatabaseSync } from 'node:sqlite';
import { type Change, type ChangeQuery, changesPruned } from '../../domain/change.ts';
import { readCursor } from '../../domain/list-cursor.ts';
import { createPage, cutToChars, DEFAULT_LIMIT, PAGE_CHARS } from '../../domain/page-size.ts';
import { type ListQuery, MAX_ID, MIN_ID, type Page, type Versioned } from '../../domain/plant.ts';
import { createTimeSlices, nextEventLoopTurn, type TimeSlices } from '../../lib/event-loop-turns.ts';
import { type ChangeRow, type PlantRow, toChange, toRecord } from '../row-mapping.ts';
import { noPlant, toError } from '../write-rules.ts';
import { prepareIsGone } from './change-numbers.ts';
import { prepareSearch } from './search.ts';

/** Limits on one pass of a search, in candidates and in time. Other searches run between two passes. */
const PASS_ROWS = 1001;
const PASS_MS = 20;

type ListedRow = PlantRow & { id: bigint };

export function prepareReads(db: DatabaseSync) {
  const findPlant = db.prepare('SELECT name, tag, created, updated, seq FROM plants WHERE id = ?');
  const listPlants = db.prepare('SELECT * FROM plants WHERE id >= ? ORDER BY id LIMIT ?');
  const searchPlants = db.prepare(`
    SELECT plants.* FROM words JOIN plants ON plants.id = words.rowid
    WHERE words MATCH ? AND words.rowid >= ? ORDER BY words.rowid LIMIT ?`);
  const listChanges = db.prepare('SELECT * FROM changes WHERE seq > ? ORDER BY seq LIMIT ?');
  const isGone = prepareIsGone(db);
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  const toSearch = prepareSearch(db);
  for (const statement of [listPlants, searchPlants, listChanges]) statement.setReadBigInts(true);

  return {
    get(id: bigint): Versioned {
      const row = findPlant.get(id) as PlantRow | undefined;
      if (!row) throw toError(noPlant(id));
      return { record: toRecord(id, row), seq: Number(row.seq) };
    },

    async list({ limit = DEFAULT_LIMIT, cursor, ...filter }: ListQuery): Promise<Page> {
      let from = cursor === undefined ? MIN_ID : readCursor(cursor, filter);
      const { add, page } = createPage(limit, filter);
      for (let pass = 0; ; pass++) {
        await nextEventLoopTurn(); // the caller serializes the page in the same turn
        const seen = atOnce(() => {
          const search = toSearch(filter, pass);
          const rows = search
            ? searchPlants.iterate(search.expression, from, PASS_ROWS)
            : listPlants.iterate(from, limit + 1);
          let count = 0;
          let slices: TimeSlices | undefined;
          for (const row of rows as Iterable<ListedRow>) {
            slices ??= createTimeSlices(PASS_MS); // from the first row on: another pass would take as long to find it
            count++;
            const record = toRecord(row.id, row);
            if ((search?.isWanted(record) ?? true) && !add(record)) return 'full';
            from = row.id;
            if (search && slices.isOver()) return 'more';
          }
          return count < PASS_ROWS && (search || count <= limit) ? 'end' : 'more';
        });
        if (seen === 'full') return page(true);
        if (seen === 'end' || from === MAX_ID) return page(false);
        from++;
      }
    },

    /** Returns a page of changes, with fewer than `limit` if they are large. */
    changes({ after, limit = DEFAULT_LIMIT, maxChars = PAGE_CHARS }: ChangeQuery): Change[] {
      return atOnce(() => {
        if (after !== undefined && isGone(after)) throw changesPruned(after);
        const rows = listChanges.iterate(after ?? 0, limit) as Iterable<ChangeRow>;
        return cutToChars(rows, maxChars).map(toChange);
      });
    },
  };

  /** Runs several statements on one consistent snapshot. */
  function atOnce<T>(read: () => T): T {
    begin.run();
    try {
      return read();
    } finally {
      commit.run();
    }
  }
}
