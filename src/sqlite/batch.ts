// Many new plants at once travel to the writer's thread as the image of a small database. There they are stored
// by statements that read it; to bind them one by one would take that thread longer than all the rest.

import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { NewPlant } from '../plant.ts';
import { indexText, isPlain, PLAIN_INDEX_TEXT } from './search.ts';

const ROWS_AT_ONCE = 100;
const COLUMNS = 4;

export type PackPlants = (plants: NewPlant[]) => Uint8Array<ArrayBuffer>;

export function createPackPlants(): PackPlants {
  const db = new DatabaseSync(':memory:');
  db.exec('CREATE TABLE plants (n INTEGER PRIMARY KEY, id INTEGER, name TEXT, tag TEXT, text TEXT)');
  const insert = (rows: number) =>
    db.prepare(`INSERT INTO plants (id, name, tag, text) VALUES ${Array(rows).fill('(?, ?, ?, ?)').join(', ')}`);
  const insertMany = insert(ROWS_AT_ONCE);
  const insertOne = insert(1);
  const row: SQLInputValue[] = Array(COLUMNS).fill(null);
  const rows: SQLInputValue[] = Array(COLUMNS * ROWS_AT_ONCE).fill(null);

  return (plants) => {
    db.exec('BEGIN; DELETE FROM plants');
    let packed = 0;
    for (; packed + ROWS_AT_ONCE <= plants.length; packed += ROWS_AT_ONCE) {
      for (let at = 0; at < ROWS_AT_ONCE; at++) fill(rows, at, plants[packed + at] as NewPlant);
      insertMany.run(...rows);
    }
    for (const plant of plants.slice(packed)) {
      fill(row, 0, plant);
      insertOne.run(...row);
    }
    db.exec('COMMIT');
    return db.serialize() as Uint8Array<ArrayBuffer>;
  };
}

export function isAscending(plants: NewPlant[]): boolean {
  return plants.every(({ id }, at) => at === 0 || id > (plants[at - 1] as NewPlant).id);
}

function fill(rows: SQLInputValue[], at: number, plant: NewPlant): void {
  rows[COLUMNS * at] = plant.id;
  rows[COLUMNS * at + 1] = plant.name;
  rows[COLUMNS * at + 2] = plant.tag ?? null;
  rows[COLUMNS * at + 3] = isPlain(plant) ? null : indexText(plant.name, plant.tag);
}

export interface Imported {
  created: number;
  replayed: number;
  /** Those whose id belongs to another plant; the first plant of the batch is line 1. */
  taken: { line: number; id: bigint }[];
}

export interface StoredBatch {
  count: number;
  /** By id: then the order of the file is the one that the index wants, and need not be made. */
  ascending: boolean;
  firstSeq: number;
  tokenId: string;
  nowMs: number;
}

/**
 * In the writer's thread and its transaction, with the image as the database `batch`. Nearly always all plants are
 * new: only when they are not is it worth looking which.
 */
export function storeBatch(db: DatabaseSync, { count, ...batch }: StoredBatch): Imported {
  db.exec('SAVEPOINT import');
  if (insertPlants(db, 'plants', batch) < count) {
    db.exec('ROLLBACK TO import');
    db.exec(SORT_OUT);
    const created = insertPlants(db, 'new_plants', batch);
    logAndIndex(db, 'new_plants', batch);
    const present = readPresent(db);
    const taken = present.filter(({ same }) => same === 0n).map(({ n, id }) => ({ line: Number(n), id }));
    return { created, replayed: present.length - taken.length, taken };
  }
  logAndIndex(db, 'plants', batch);
  return { created: count, replayed: 0, taken: [] };
}

/** Those whose id is stored, or came before in the batch, and if it is the same plant; then the others, numbered anew. */
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

function insertPlants(db: DatabaseSync, table: string, { firstSeq, nowMs }: Omit<StoredBatch, 'count'>): number {
  const insert = db.prepare(`
    INSERT INTO main.plants (id, name, tag, created, updated, seq)
    SELECT id, name, tag, ?1, ?1, ?2 + n - 1 FROM batch.${table} WHERE true ORDER BY n
    ON CONFLICT DO NOTHING`);
  return Number(insert.run(nowMs, firstSeq).changes);
}

function logAndIndex(db: DatabaseSync, table: string, batch: Omit<StoredBatch, 'count'>): void {
  const { ascending, firstSeq, tokenId, nowMs } = batch;
  db.prepare(`
    INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id)
    SELECT ?1 + n - 1, 'plant.created', ?2, id, name, tag, ?3 FROM batch.${table} ORDER BY n`).run(
    firstSeq,
    nowMs,
    tokenId,
  );
  const insertWords = db.prepare(`
    INSERT INTO words (rowid, text)
    SELECT id, coalesce(text, ${PLAIN_INDEX_TEXT}) FROM batch.${table} ORDER BY ${ascending ? 'n' : 'id'}`);
  insertWords.run();
}

interface Present {
  n: bigint;
  id: bigint;
  same: bigint;
}

function readPresent(db: DatabaseSync): Present[] {
  return db.prepare('SELECT n, id, same FROM batch.present ORDER BY n').all() as unknown as Present[];
}
