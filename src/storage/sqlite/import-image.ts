// Transfers many new plants to the writer thread as the image of a small database. Statements in that thread read the
// image and store the plants. Binding the plants one by one would take that thread longer than all its other work.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { NewPlant } from '../../domain/plant.ts';
import type { Authorship } from '../write-rules.ts';
import { isPlainTag, PLAIN_INDEX_TEXT, withTag } from './search.ts';
import { createVocabulary } from './search-words.ts';

const ROWS_AT_ONCE = 100;
const WORDS_AT_ONCE = 500;
const COLUMNS = 4;

export interface ImportImage {
  bytes: Uint8Array<ArrayBuffer>;
  count: number;
  /** True if the ids ascend. The index requires that order, so the plants then need no sorting. */
  ascending: boolean;
}

export type ImagePacker = ReturnType<typeof createImagePacker>;

/** Returns a packer for one batch. It is not reused, because an in-memory database never shrinks. */
export function createImagePacker() {
  const db = new DatabaseSync(':memory:');
  db.exec(
    'CREATE TABLE plants (n INTEGER PRIMARY KEY, id INTEGER, name TEXT, tag TEXT, text TEXT); CREATE TABLE dictionary (word TEXT); BEGIN',
  );
  const insert = (rows: number) =>
    db.prepare(`INSERT INTO plants (id, name, tag, text) VALUES ${Array(rows).fill('(?, ?, ?, ?)').join(', ')}`);
  const insertMany = insert(ROWS_AT_ONCE);
  const insertWords = db.prepare('INSERT INTO dictionary (word) SELECT value FROM json_each(?)');
  const rows: SQLInputValue[] = Array(COLUMNS * ROWS_AT_ONCE).fill(null);
  let count = 0;
  let ascending = true;
  let lastId: bigint | undefined;
  let chars = 0;
  const vocabulary = createVocabulary();

  return {
    /** Adds a plant. Takes up to 50 ms for the longest names. */
    add(plant: NewPlant): void {
      fill(count++ % ROWS_AT_ONCE, plant);
      if (count % ROWS_AT_ONCE === 0) insertMany.run(...rows);
      if (vocabulary.fresh() >= WORDS_AT_ONCE) writeWords();
    },
    /** Returns the number of characters in all texts added so far. */
    chars: () => chars,
    /** Returns the image and closes the packer. Must be called exactly once. */
    pack(): ImportImage {
      const insertOne = insert(1);
      for (let at = 0; at < count % ROWS_AT_ONCE; at++) insertOne.run(...rows.slice(COLUMNS * at, COLUMNS * (at + 1)));
      writeWords();
      db.exec('COMMIT');
      const bytes = db.serialize() as Uint8Array<ArrayBuffer>;
      db.close();
      return { bytes, count, ascending };
    },
  };

  function writeWords(): void {
    insertWords.run(JSON.stringify(vocabulary.take()));
  }

  function fill(at: number, plant: NewPlant): void {
    ascending &&= lastId === undefined || plant.id > lastId;
    lastId = plant.id;
    rows[COLUMNS * at] = plant.id;
    rows[COLUMNS * at + 1] = plant.name;
    rows[COLUMNS * at + 2] = plant.tag ?? null;
    const words = vocabulary.note(plant.name);
    const text = words || !isPlainTag(plant.tag) ? withTag(words?.join(' ') ?? plant.name, plant.tag) : null;
    rows[COLUMNS * at + 3] = text;
    chars += plant.name.length + (plant.tag?.length ?? 0) + (text?.length ?? 0);
  }
}

export interface Imported {
  created: number;
  /** Plants whose id already existed. The first plant of the batch is line 1. */
  present: { line: number; id: bigint; same: boolean }[];
}

/** `plantCount` is the number of plants before the import. */
type ImportNumbers = Authorship & { firstSeq: number; plantCount: number };

/**
 * Stores the plants of an image. Runs in the writer thread and its transaction, with the image attached as the database
 * `batch`. Nearly always all plants are new, so it searches for existing ids only if an insert is incomplete.
 */
export function importPlants(db: DatabaseSync, { count, ascending }: ImportImage, numbers: ImportNumbers): Imported {
  db.exec('SAVEPOINT import');
  if (insertPlants(db, 'plants', numbers) === count) {
    logAndIndex(db, 'plants', ascending, numbers);
    return { created: count, present: [] };
  }
  db.exec('ROLLBACK TO import');
  db.exec(SORT_OUT);
  const created = insertPlants(db, 'new_plants', numbers);
  logAndIndex(db, 'new_plants', ascending, numbers);
  const present = db.prepare('SELECT n, id, same FROM batch.present ORDER BY n').all() as Record<string, bigint>[];
  return {
    created,
    present: present.map(({ n, id, same }) => ({ line: Number(n), id: id as bigint, same: same === 1n })),
  };
}

/**
 * Lists the plants whose id is stored or occurs earlier in the batch, and whether they are the same plant. Then lists
 * the other plants with new line numbers.
 */
const SORT_OUT = `
  CREATE TABLE batch.present AS
  SELECT sent.n, sent.id, iif(stored.id IS NULL,
    first.name = sent.name AND first.tag IS sent.tag,
    stored.name = sent.name AND stored.tag IS sent.tag) AS same
  FROM batch.plants AS sent
  JOIN (SELECT id, min(n) AS n FROM batch.plants GROUP BY id) AS earliest ON earliest.id = sent.id
  JOIN batch.plants AS first ON first.n = earliest.n
  LEFT JOIN main.plants AS stored ON stored.id = sent.id
  WHERE stored.id IS NOT NULL OR sent.n > first.n;

  CREATE TABLE batch.new_plants AS
  SELECT row_number() OVER (ORDER BY n) AS n, id, name, tag, text
  FROM batch.plants WHERE n NOT IN (SELECT n FROM batch.present);
`;

function insertPlants(db: DatabaseSync, table: string, { firstSeq, nowMs }: ImportNumbers): number {
  const insert = db.prepare(`
    INSERT INTO main.plants (id, name, tag, created, updated, seq)
    SELECT id, name, tag, ?1, ?1, ?2 + n - 1 FROM batch.${table} WHERE true ORDER BY n
    ON CONFLICT DO NOTHING`);
  return Number(insert.run(nowMs, firstSeq).changes);
}

function logAndIndex(
  db: DatabaseSync,
  table: string,
  ascending: boolean,
  { firstSeq, plantCount, tokenId, nowMs }: ImportNumbers,
): void {
  const insertChanges = db.prepare(`
    INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id, plant_count)
    SELECT ?1 + n - 1, 'plant.created', ?2, id, name, tag, ?3, ?4 + n FROM batch.${table} ORDER BY n`);
  insertChanges.run(firstSeq, nowMs, tokenId, plantCount);
  const insertWords = db.prepare(`
    INSERT INTO words (rowid, text)
    SELECT id, coalesce(text, ${PLAIN_INDEX_TEXT}) FROM batch.${table} ORDER BY ${ascending ? 'n' : 'id'}`);
  insertWords.run();
  db.exec(
    'INSERT INTO main.dictionary (word) SELECT word FROM batch.dictionary WHERE true ORDER BY word ON CONFLICT DO NOTHING',
  );
}
