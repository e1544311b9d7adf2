// Writes single plants: the record, its change and its entry in the search index.

import type { DatabaseSync } from 'node:sqlite';
import { nameKey } from '../../domain/name-search.ts';
import type { ChangeType } from '../../domain/names.ts';
import type { Plant } from '../../domain/plant.ts';
import type { PlantRow } from '../row-mapping.ts';
import {
  type Authorship,
  actionOf,
  nextRow,
  type PlantWrite,
  type Rejection,
  type Results,
  resultOf,
} from '../write-rules.ts';
import { indexText } from './search.ts';
import { prepareDictionary, type Vocabulary } from './search-words.ts';

type Result = { done: Results[keyof Results] } | Rejection;
type IndexedPlant = { name: string; tag?: string | null | undefined };

export function preparePlantWrites(db: DatabaseSync, vocabulary: Vocabulary) {
  const findPlant = db.prepare('SELECT name, tag, created, updated, seq FROM plants WHERE id = ?');
  const insertPlant = db.prepare(
    'INSERT INTO plants (id, name, tag, created, updated, seq) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const updatePlant = db.prepare('UPDATE plants SET name = ?, tag = ?, updated = ?, seq = ? WHERE id = ?');
  const deletePlant = db.prepare('DELETE FROM plants WHERE id = ?');
  const insertChange = db.prepare(
    'INSERT INTO changes (seq, type, time, plant_id, name, tag, token_id, previous, plant_count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const deleteFromOrder = db.prepare('DELETE FROM name_order WHERE key = ? AND id = ?');
  const index = prepareIndexWrites(db, vocabulary);
  let seq = 0;
  let plantCount = 0;

  return {
    /** Starts a batch in the caller's transaction, with the number of the last change and the number of plants. */
    begin(lastSeq: number, plants: number): void {
      seq = lastSeq;
      plantCount = plants;
      index.begin();
    },
    write(write: PlantWrite): Result {
      // The id is nearly always free, so the stored record is read only if the insert fails.
      if (write.kind === 'create' && insert(write.id, write.plant, write)) return { done: { seq, replayed: false } };
      const { id } = write;
      const present = findPlant.get(id) as PlantRow | undefined;
      const action = actionOf(write, present);
      switch (action.does) {
        case 'reject':
          return action;
        case 'keep':
          return { done: resultOf(write, present as PlantRow, true) };
        case 'delete':
          remove(id, present as PlantRow, write);
          return { done: null };
        case 'store':
          if (present) update(id, present, action.plant, write);
          else insert(id, action.plant, write);
          return { done: resultOf(write, nextRow(write, present, action.plant, seq), false) };
      }
    },
    /** Writes the search index once for the whole batch. Returns the number of the last change. */
    end(): number {
      index.write();
      return seq;
    },
  };

  /** Inserts a plant. Returns false if the id already exists. */
  function insert(id: bigint, plant: Plant, by: Authorship): boolean {
    if (insertPlant.run(id, plant.name, plant.tag ?? null, by.nowMs, by.nowMs, seq + 1).changes !== 1n) return false;
    plantCount++;
    recordChange('plant.created', id, plant, by);
    index.change(id, undefined, plant);
    return true;
  }

  function update(id: bigint, present: PlantRow, plant: Plant, by: Authorship): void {
    updatePlant.run(plant.name, plant.tag ?? null, by.nowMs, seq + 1, id);
    recordChange('plant.updated', id, plant, by, present.seq);
    if (plant.name !== present.name) deleteFromOrder.run(nameKey(present.name), id);
    index.change(id, present, plant);
  }

  function remove(id: bigint, present: PlantRow, by: Authorship): void {
    deletePlant.run(id);
    plantCount--;
    recordChange('plant.deleted', id, present, by, present.seq);
    deleteFromOrder.run(nameKey(present.name), id);
    index.change(id, present, undefined);
  }

  function recordChange(
    type: ChangeType,
    id: bigint,
    { name, tag }: IndexedPlant,
    { nowMs, tokenId }: Authorship,
    previous: number | bigint | null = null,
  ): void {
    // Unlike `run`, `get` creates no result object with two bigints, which takes 0.4 µs for a create.
    insertChange.get(++seq, type, nowMs, id, name, tag ?? null, tokenId, previous, plantCount);
  }
}

/** Collects a batch's changes to the index `words` and the dictionary, and writes them at the end of the batch. */
function prepareIndexWrites(db: DatabaseSync, vocabulary: Vocabulary) {
  const insertWords = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const deleteWords = db.prepare(`INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)`);
  const dictionary = prepareDictionary(db, vocabulary);
  /** By plant: the text that the index holds and the text that it must hold. */
  let changed = new Map<bigint, { before: string | undefined; after: string | undefined }>();

  return {
    /** Takes a new map. A cleared one keeps the contents of its next batch in memory, if V8 has promoted it (decision 59). */
    begin(): void {
      changed = new Map();
    },
    change(id: bigint, before: IndexedPlant | undefined, after: IndexedPlant | undefined): void {
      if (after) dictionary.learn(after.name);
      if (before && before.name !== after?.name) dictionary.doubt(before.name);
      const known = changed.get(id);
      changed.set(id, {
        before: known ? known.before : before && indexText(before.name, before.tag),
        after: after && indexText(after.name, after.tag),
      });
    },
    /** Writes by ascending id. In any other order, the index would write a segment for nearly every plant. */
    write(): void {
      for (const [id, { before, after }] of [...changed].sort(([a], [b]) => (a < b ? -1 : 1))) {
        if (before === after) continue;
        if (before !== undefined) deleteWords.run(id, before);
        if (after !== undefined) insertWords.get(id, after);
      }
      dictionary.write();
    },
  };
}
