// Every read there is, on a connection that cannot write.

import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change } from '../change.ts';
import { readCursor, toCursor } from '../cursor.ts';
import { PlantStoreError } from '../error.ts';
import { type ListQuery, MAX_ID, MIN_ID, type Page, type PlantRecord, type Versioned } from '../plant.ts';
import type { Token } from '../token.ts';
import { type ChangeRow, type PlantRow, type TokenRow, toChange, toRecord, toToken } from './rows.ts';
import { prepareSearch } from './search.ts';

const DEFAULT_LIMIT = 100;
const TOKEN_COLUMNS = 'id, name, scopes, created, expires, revoked';

type ListedRow = PlantRow & { id: bigint };

export function prepareReads(db: DatabaseSync) {
  const findPlant = db.prepare('SELECT name, tag, created, updated, seq FROM plants WHERE id = ?');
  const listPlants = db.prepare('SELECT * FROM plants WHERE id >= ? ORDER BY id LIMIT ?');
  const searchPlants = db.prepare(`
    SELECT plants.* FROM words JOIN plants ON plants.id = words.rowid
    WHERE words MATCH ? AND words.rowid >= ? ORDER BY words.rowid LIMIT ?`);
  const listChanges = db.prepare('SELECT * FROM changes WHERE seq > ? ORDER BY seq LIMIT ?');
  const prunedTo = db.prepare('SELECT pruned_to FROM numbering');
  const findToken = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE secret_hash = ?`);
  const listTokens = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created, id`);
  const toSearch = prepareSearch(db);
  for (const statement of [listPlants, searchPlants, listChanges]) statement.setReadBigInts(true);

  return {
    get(id: bigint): Versioned {
      const row = findPlant.get(id) as PlantRow | undefined;
      if (!row) throw new PlantStoreError('not_found', `No plant has the id ${id}`);
      return { record: toRecord(id, row), seq: Number(row.seq) };
    },

    async list({ limit = DEFAULT_LIMIT, cursor, ...filter }: ListQuery): Promise<Page> {
      let from = cursor === undefined ? MIN_ID : readCursor(cursor, filter);
      const search = toSearch(filter);
      const records: PlantRecord[] = [];
      for (;;) {
        const rows = (search
          ? searchPlants.all(search.expression, from, limit + 1)
          : listPlants.all(from, limit + 1)) as unknown as ListedRow[];
        for (const row of rows) {
          const record = toRecord(row.id, row);
          if (search && !search.isWanted(record)) continue;
          const last = records.at(-1);
          if (last && records.length === limit) return { records, next: toCursor(last.id + 1n, filter) };
          records.push(record);
        }
        const end = rows[limit];
        if (!end || end.id === MAX_ID) return { records };
        from = end.id + 1n;
        await nextTurn(); // others get theirs, while this one has to pass over many
      }
    },

    changes({ after, limit = DEFAULT_LIMIT }: { after?: number | undefined; limit?: number | undefined }): Change[] {
      const { pruned_to } = prunedTo.get() as { pruned_to: number };
      if (after !== undefined && after < pruned_to) {
        throw new PlantStoreError(
          'changes_pruned',
          `The changes after ${after} are no longer there: take a new export, and follow from the number in its ETag`,
        );
      }
      const rows = listChanges.all(after ?? 0, limit) as unknown as ChangeRow[];
      return rows.map(toChange);
    },

    findToken(secretHash: string): Token | undefined {
      const row = findToken.get(secretHash) as TokenRow | undefined;
      return row && toToken(row);
    },

    listTokens: (): Token[] => (listTokens.all() as unknown as TokenRow[]).map(toToken),
  };
}
