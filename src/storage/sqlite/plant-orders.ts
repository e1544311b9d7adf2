// Reads all plants in the order of a sort, each with one statement on an index.

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { fieldOf, isDescending, type Place, type Sort } from '../../domain/list-order.ts';
import { MAX_ID, MIN_ID } from '../../domain/plant.ts';
import type { PlantRowWithId } from '../row-mapping.ts';
import { registerNameKey, SELECT_MISSING } from './name-order.ts';

/** Returns a function that yields up to `limit` plants, after `skip` others. `start` is the place in a cursor. */
export function preparePlantOrders(db: DatabaseSync) {
  registerNameKey(db);
  const statements = new Map<string, StatementSync>();

  return (sort: Sort, start: Place | undefined, limit: number, skip = 0): Iterable<PlantRowWithId> => {
    const isDesc = isDescending(sort);
    const values: SQLInputValue[] =
      fieldOf(sort) === 'id' ? [start?.id ?? (isDesc ? MAX_ID : MIN_ID)] : start ? [start.key, start.id] : [];
    return prepared(sort, start !== undefined).iterate({ limit, skip }, ...values) as Iterable<PlantRowWithId>;
  };

  function prepared(sort: Sort, isLater: boolean): StatementSync {
    const key = `${sort} ${isLater}`;
    let statement = statements.get(key);
    if (!statement) {
      statement = db.prepare(SELECT[fieldOf(sort)](isDescending(sort) ? ['<', 'DESC'] : ['>', 'ASC'], isLater));
      statement.setReadBigInts(true);
      statements.set(key, statement);
    }
    return statement;
  }
}

type Direction = [after: '<' | '>', order: 'ASC' | 'DESC'];

/** SQL by field. `isLater` is true for a page after a place. SQLite reads no plants that `:skip` omits. */
const SELECT = {
  id: ([after, order]: Direction) =>
    `SELECT * FROM plants WHERE id ${after}= ? ORDER BY id ${order} LIMIT :limit OFFSET :skip`,
  /**
   * UNION removes entries that are in both parts. Only the keys are sorted, not the plants: a page reads no more plants
   * than it can hold. A cross join keeps the order of its first table.
   */
  name([after, order]: Direction, isLater: boolean): string {
    const where = isLater ? `WHERE (key, id) ${after} (?1, ?2)` : '';
    return `
      SELECT plants.* FROM (
        SELECT key, id FROM name_order ${where}
        UNION SELECT key, id FROM (${SELECT_MISSING}) ${where}
        ORDER BY key ${order}, id ${order} LIMIT :limit OFFSET :skip
      ) AS ordered CROSS JOIN plants ON plants.id = ordered.id`;
  },
  /** Two parts, because SQLite does not use the id at the end of the index for a condition on both columns. */
  updated([after, order]: Direction, isLater: boolean): string {
    if (!isLater) return `SELECT * FROM plants ORDER BY updated ${order}, id ${order} LIMIT :limit OFFSET :skip`;
    return `
      SELECT * FROM (
        SELECT * FROM plants WHERE updated = ?1 AND id ${after} ?2 ORDER BY id ${order} LIMIT :limit + :skip
      ) UNION ALL SELECT * FROM (
        SELECT * FROM plants WHERE updated ${after} ?1 ORDER BY updated ${order}, id ${order} LIMIT :limit + :skip
      ) LIMIT :limit OFFSET :skip`;
  },
};
